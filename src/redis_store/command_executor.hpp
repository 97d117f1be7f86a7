#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis_store/batch/batcher.hpp"
#include "redis_store/lease/change_feed.hpp"
#include "redis_store/lease/lease_calls.hpp"
#include "redis_store/script_calls.hpp"
#include "redis_store/scripts.hpp"

#include <boost/asio/any_io_executor.hpp>

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

// Runs checks and commands on a Redis client: keys, scripts and batches. It reports failures and
// never turns them into decisions.
//
// Thread-safety: none; everything runs on the executor, which must not run it in two threads at
// once. Callers are answered there, exactly once, at the latest by the destructor.
class CommandExecutor {
 public:
  using Decided = redis_store::Decided;
  using Done = std::function<void(Result<bool>)>;
  using Counted = std::function<void(Result<std::int64_t>)>;

  // REQUIRES: the scripts outlive the store.
  CommandExecutor(const boost::asio::any_io_executor& executor, redis::Options options,
                  std::size_t max_waiting, const ScriptSet& scripts = redis_store::scripts());
  ~CommandExecutor();
  CommandExecutor(const CommandExecutor&) = delete;
  CommandExecutor& operator=(const CommandExecutor&) = delete;

  void start() { client_->start(); }

  // See redis::Client::reload.
  [[nodiscard]] Result<void> reload(redis::Options options, std::size_t max_waiting);

  // From now on publishes refunded, reset, blocked, unblocked and otherwise changed keys on this
  // channel, after the change. Failures are ignored: subscribers must let their cached state
  // expire.
  void announce_on(std::string channel) { channel_ = std::move(channel); }

  // From now on reports the time in replies. REQUIRES: the clock outlives this.
  void report_time_to(RedisClock& clock);

  // Requests of one tick share calls; those added by `questions` are sent when it returns, which
  // saves a turn of the event loop.
  void at_once(const std::function<void()>& questions) { batcher_->at_once(questions); }

  // Decisions of all limits. For keys in several slots of a cluster see CrossSlotCheck.
  void check(CheckRequest request, base::Deadline deadline, Decided decided);
  // Decisions of all limits after the refund. REQUIRES: the keys share a slot.
  void refund(CheckRequest request, base::Deadline deadline, Decided decided);
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

  // Runs one of our scripts on keys of one slot.
  void run(const redis::Script& script, const std::vector<std::string_view>& keys,
           std::initializer_list<std::string_view> arguments, base::Deadline deadline,
           OnReply on_reply);
  // The same with a reader of the reply.
  template <class T>
  void run(const redis::Script& script, const std::vector<std::string_view>& keys,
           std::initializer_list<std::string_view> arguments, base::Deadline deadline,
           Result<T> (*read)(const Result<resp::Value>&), std::function<void(Result<T>)> done) {
    run(script, keys, arguments, deadline,
        [read, done = std::move(done)](const Result<resp::Value>& reply) { done(read(reply)); });
  }

  // The same for a script that changes the first key, which is announced.
  void run_change(const redis::Script& script, const std::vector<std::string_view>& keys,
                  std::initializer_list<std::string_view> arguments, base::Deadline deadline,
                  OnReply on_reply);

  [[nodiscard]] const ScriptSet& scripts() const noexcept { return scripts_; }
  [[nodiscard]] bool is_cluster() const noexcept { return client_->is_cluster(); }
  [[nodiscard]] redis::Client& client() noexcept { return *client_; }
  [[nodiscard]] redis::ClientStats stats() const noexcept { return client_->stats(); }

 private:
  void check_across_slots(CheckRequest request, base::Deadline deadline, Decided decided);
  // Sends a command that changes these keys, and announces them right after it; and once more after
  // its reply if anything was sent again meanwhile, since the first announcement may have overtaken
  // the change.
  void change(redis::Command command, const std::vector<std::string>& keys, OnReply on_reply);
  void announce(const std::vector<std::string>& keys, Change change);
  // Commands sent more than once so far.
  [[nodiscard]] std::uint64_t sent_again() const;

  boost::asio::any_io_executor executor_;
  const ScriptSet& scripts_;
  std::size_t max_waiting_;
  std::unique_ptr<redis::Client> client_;  // null in the destructor
  std::shared_ptr<Batcher> batcher_;
  RedisClock* clock_ = nullptr;
  std::string channel_;  // empty: no announcements
};

}  // namespace penstock::redis_store
