#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis_store/batch/check_queue.hpp"
#include "redis_store/lease/lease_calls.hpp"
#include "redis_store/scripts.hpp"
#include "store/stores.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis_store {

// A key to reset, and the key of its escrow.
struct ResetKey {
  std::string key;
  std::string escrow;
};

struct KeyCheck {
  std::string key;
  Quota quota;
  Cost cost{};
};

// Limits that pass all or nothing.
struct MultiCheckRequest {
  std::vector<KeyCheck> checks{};
  std::string guard{};  // a further key that must not be blocked; empty for none
};

// Runs checks and commands on a Redis client: keys, scripts and batches. It reports failures and
// never turns them into decisions.
//
// Thread-safety: none; everything runs on the executor, which must not run it in two threads at
// once. Callers are answered there, exactly once, at the latest by the destructor.
class CommandExecutor {
 public:
  using Decided = std::function<void(Result<std::vector<Decision>>)>;
  using Done = std::function<void(Result<bool>)>;
  using Counted = std::function<void(Result<std::int64_t>)>;

  // REQUIRES: the scripts outlive the store.
  CommandExecutor(const boost::asio::any_io_executor& executor, redis::Options options,
                  std::size_t max_waiting, const ScriptSet& scripts = redis_store::scripts());
  ~CommandExecutor();
  CommandExecutor(const CommandExecutor&) = delete;
  CommandExecutor& operator=(const CommandExecutor&) = delete;

  void start();

  // From now on publishes refunded, reset, blocked and unblocked keys on this channel, after the
  // change. Failures are ignored: subscribers must let their cached state expire.
  void announce_on(std::string channel);

  // Checks of one tick share calls; those added by `questions` are sent when it returns, which
  // saves a turn of the event loop.
  void at_once(const std::function<void()>& questions);
  void check(KeyCheck check, base::Deadline deadline, DecisionHandler& handler,
             std::size_t question);

  // Decisions of all limits. For keys in several slots of a cluster see CrossSlotCheck.
  void check_all(MultiCheckRequest request, base::Deadline deadline, Decided decided);
  // Decisions of all limits after the refund. REQUIRES: the keys share a slot.
  void refund(MultiCheckRequest request, base::Deadline deadline, Decided decided);
  // Whether any of them had usage. REQUIRES: the keys share a slot.
  void reset(std::vector<ResetKey> keys, base::Deadline deadline, Done done);
  // Whether the key was blocked before. Zero unblocks.
  void block(const std::string& key, Duration duration, base::Deadline deadline, Done done);

  // Leases units, with one answer per request. REQUIRES: no key appears twice.
  void lease(std::vector<KeyLeaseRequest> asks, base::Deadline deadline, Leased leased);

  void add(const std::string& counter, std::int64_t delta, std::optional<Duration> lifetime,
           base::Deadline deadline, Counted counted);
  void get(const std::string& counter, base::Deadline deadline, Counted counted);
  // Whether any existed. REQUIRES: the counters share a slot.
  void remove(const std::vector<std::string>& counters, base::Deadline deadline, Done done);

  // An integer and a decimal counter with their values. REQUIRES: both share a slot.
  using CounterKeys = std::array<std::string, 2>;
  void read_counter(const CounterKeys& counters, base::Deadline deadline,
                    std::function<void(Result<store::CounterValues>)> on_counters);
  // Sets their lifetime from now. Whether any existed. REQUIRES: as above; lifetime > 0.
  void expire(const CounterKeys& counters, Duration lifetime, store::ExpireCondition condition,
              base::Deadline deadline, Done done);

  // Records a heartbeat of this node, valid for `lasts`; zero removes the node. Returns the number
  // of live nodes, this one included.
  void heartbeat(const std::string& key, std::string_view node, Duration lasts,
                 base::Deadline deadline, Counted counted);

  // Runs one of our scripts on keys of one slot.
  void run(const redis::Script& script, const std::vector<std::string_view>& keys,
           std::initializer_list<std::string_view> arguments, base::Deadline deadline,
           std::function<void(const Result<resp::Value>&)> replied);
  [[nodiscard]] const ScriptSet& scripts() const noexcept;

  [[nodiscard]] bool is_cluster() const noexcept;
  [[nodiscard]] redis::Client& client() noexcept;
  [[nodiscard]] redis::ClientStats stats() const noexcept;

 private:
  class Core;
  std::shared_ptr<Core> core_;
  std::string channel_;  // empty: no announcements
};

}  // namespace penstock::redis_store
