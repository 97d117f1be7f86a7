#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis_store/batch/check_queue.hpp"
#include "redis_store/counter_pair.hpp"
#include "redis_store/lease/lease_calls.hpp"
#include "redis_store/scripts.hpp"

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

// One limit to ask about, under its key in Redis.
// A key whose usage is forgotten, and the one beside it that has what is leased of it.
struct ResetKey {
  std::string key;
  std::string escrow;
};

struct KeyCheck {
  std::string key;
  Quota quota;
  Cost cost{};
};

// Limits that pass together or not at all.
struct MultiCheckRequest {
  std::vector<KeyCheck> checks{};
  std::string guard{};  // a key that must not be blocked, besides; empty for none
};

// The shared store: keys, scripts and batches on top of a Redis client. It reports failures, and
// never decides what they mean.
//
// Thread-safety: none; everything happens on the executor, which must not run it in two threads at
// once. Whoever waits for an answer hears it there, exactly once, before the store is gone.
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

  // From now on everybody who listens to this channel hears the keys that are given back to, reset,
  // blocked or unblocked, after that is done. Nobody waits for it, and a failure is not told: those
  // who listen must not believe for ever what they remember.
  void announce_on(std::string channel);

  // Questions of one tick leave together; those asked by `questions` leave when it returns, which
  // saves a turn of the event loop.
  void at_once(const std::function<void()>& questions);
  void check(KeyCheck check, base::Deadline deadline, DecisionHandler& handler,
             std::size_t question);

  // What every limit said. Keys of a cluster that live in several slots: see CrossSlotCheck.
  void check_all(MultiCheckRequest request, base::Deadline deadline, Decided decided);
  // What every limit says afterwards. REQUIRES: the keys live in one slot.
  void refund(MultiCheckRequest request, base::Deadline deadline, Decided decided);
  // Whether any of them had used something. REQUIRES: the keys live in one slot.
  void reset(std::vector<ResetKey> keys, base::Deadline deadline, Done done);
  // Whether the key was blocked before. Zero unblocks.
  void block(const std::string& key, Duration duration, base::Deadline deadline, Done done);

  // Prepaid units, for each ask an answer. REQUIRES: no key appears twice.
  void lease(std::vector<KeyLeaseRequest> asks, base::Deadline deadline, Leased leased);

  void add(const std::string& counter, std::int64_t delta, std::optional<Duration> lifetime,
           base::Deadline deadline, Counted counted);
  void get(const std::string& counter, base::Deadline deadline, Counted counted);
  // Whether there was any. REQUIRES: the counters live in one slot.
  void remove(const std::vector<std::string>& counters, base::Deadline deadline, Done done);

  // An integer and a decimal, with what they hold. REQUIRES: both live in one slot.
  using CounterKeys = std::array<std::string, 2>;
  void read_counter(const CounterKeys& counters, base::Deadline deadline,
                    std::function<void(Result<CounterPair>)> on_counters);
  // They live so long from now on. Whether there was one. REQUIRES: as above; lifetime > 0.
  enum class ExpireCondition : std::uint8_t { Always, IfPersistent };
  void expire(const CounterKeys& counters, Duration lifetime, ExpireCondition condition,
              base::Deadline deadline, Done done);

  // How many nodes have given a sign of life lately, this one included, which lasts so long from
  // now on. Zero takes it away.
  void heartbeat(const std::string& key, std::string_view node, Duration lasts,
                 base::Deadline deadline, Counted counted);

  // A script of ours about keys of one slot.
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
  std::string channel_;  // empty: nothing is announced
};

}  // namespace penstock::redis_store
