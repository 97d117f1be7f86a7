#pragma once

#include "penstock/redis_options.hpp"
#include "redis/options.hpp"
#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "redis_store/redis_operator_store.hpp"
#include "redis_store/redis_permit_store.hpp"
#include "redis_store/redis_reservation_store.hpp"
#include "store/lease_source.hpp"
#include "store/stores.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis_store {

// The shared store behind the interface of the service. Requests of one tick share calls (Batcher),
// and so do leases requested at the same time, per algorithm and in a cluster per slot.
//
// Nothing takes longer than RedisOptions::timeout or the caller's deadline.
//
// Thread-safety: none; everything runs on the executor, which must not run it in two threads at
// once. The destructor answers all waiting callers with an error. Calls that they make then fail.
class RedisStore final : public store::LimitStore,
                         public store::CounterStore,
                         public store::LeaseSource {
 public:
  template <class T>
  using Answered = store::Answered<T>;
  using Decisions = store::Decisions;

  // `client` is the result of redis_store::client_options() for the options. REQUIRES: the scripts
  // outlive the store.
  RedisStore(const boost::asio::any_io_executor& executor, const RedisOptions& options,
             redis::Options client, const ScriptSet& scripts = redis_store::scripts());
  ~RedisStore() override { store_.reset(); }  // null while callers are answered

  // Connects. Before it, every call fails with Unavailable.
  void start() { store_->start(); }

  // Reports the time in replies to checks and leases. REQUIRES: the clock outlives the store.
  void report_time_to(RedisClock& clock) { store_->report_time_to(clock); }

  // Replaces the options, except the key prefix and on_event. See redis::Client::reload.
  [[nodiscard]] Result<void> reload(const RedisOptions& options);

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             Answered<Decisions> answered) override;
  // Names in several slots are refunded one slot after the other; one failure fails the call.
  void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
              Answered<Decisions> answered) override;
  void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
             Answered<bool> answered) override;
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
             Answered<bool> answered) override;

  void lease(std::vector<store::LeaseRequest> asks, base::Deadline deadline,
             OnGrant on_grant) override;

  void add(store::CounterKind kind, std::string name, std::int64_t delta,
           std::optional<Duration> lifetime, base::Deadline deadline,
           Answered<std::int64_t> answered) override;
  void get(store::CounterKind kind, std::string name, base::Deadline deadline,
           Answered<std::int64_t> answered) override;
  void remove(std::string name, base::Deadline deadline, Answered<bool> answered) override;
  void read_counter(std::string name, base::Deadline deadline,
                    Answered<store::CounterValues> answered) override;
  void expire(std::string name, Duration lifetime, store::ExpireCondition condition,
              base::Deadline deadline, Answered<bool> answered) override;

  [[nodiscard]] store::StoreHealth health() const;

  [[nodiscard]] store::Stores stores() noexcept {
    return {.limits = *this,
            .counters = *this,
            .permits = permits_,
            .reservations = reservations_,
            .operators = operators_};
  }

  // Records a heartbeat of this node, valid for `lasts`. Zero removes the node.
  void heartbeat(std::string_view node, Duration lasts, const store::NodeReport& report,
                 Answered<store::FleetState> answered);
  // What the nodes published, and asks them to publish details for kWatchedFor.
  static constexpr Duration kWatchedFor = std::chrono::seconds{10};
  void read_fleet(store::FleetPart part, Answered<store::FleetReports> answered);

 private:
  [[nodiscard]] base::Deadline within(base::Deadline deadline) const;
  [[nodiscard]] std::string key_of(const core::LimitKey& name) const;
  [[nodiscard]] std::string escrow_key_of(const core::LimitKey& name) const;
  [[nodiscard]] std::string counter_key(store::CounterKind kind, std::string_view name) const;
  // Positions of those keys that can be named in one call.
  [[nodiscard]] std::vector<std::vector<std::size_t>> calls_for(
      const std::vector<std::string>& keys) const;

  KeyLayout layout_;
  Duration timeout_;
  std::unique_ptr<CommandExecutor> store_;
  RedisReservationStore reservations_{layout_, timeout_, store_};
  RedisPermitStore permits_{layout_, timeout_, store_};
  RedisOperatorStore operators_{layout_, timeout_, store_};
};

}  // namespace penstock::redis_store
