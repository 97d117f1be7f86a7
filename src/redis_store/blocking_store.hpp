#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/limits.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"
#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::redis_store {

// The shared store for blocking callers: one thread runs it, and calls of any thread are handed to
// that thread. Calls that arrive at the same time share batches. While a single server is
// unavailable, calls fail in the calling thread.
//
// Thread-safety: all members, from any thread.
class BlockingStore {
 public:
  BlockingStore(const RedisOptions& options, redis::Options client_options);
  ~BlockingStore();
  BlockingStore(const BlockingStore&) = delete;
  BlockingStore& operator=(const BlockingStore&) = delete;

  Result<Decision> check(std::string_view key, const Quota& quota, Cost cost);
  Result<Decision> check(std::string_view key, const Limits& limits, Cost cost);
  Result<Decision> check_all(std::span<const Check> checks, std::span<Decision> each);
  void check_each(std::span<const Check> checks, std::span<Result<Decision>> results);

  Result<Decision> refund(std::string_view key, const Quota& quota, Cost cost);
  Result<Decision> refund(std::string_view key, const Limits& limits, Cost cost);
  Result<bool> reset(std::string_view key);
  Result<bool> reset(std::string_view key, const Limits& limits);
  Result<bool> block(std::string_view key, Duration duration);
  // Only this limit of the key.
  Result<bool> block(std::string_view key, std::string_view limit, Duration duration);
  Result<bool> unblock(std::string_view key) { return block(key, Duration{0}); }

  Result<std::int64_t> add(const std::string& counter, std::int64_t delta,
                           std::optional<Duration> lifetime);
  Result<std::int64_t> get(const std::string& counter);
  Result<bool> remove(const std::vector<std::string>& counters);

  // Other commands (script_calls.hpp), pipelined. Returns all replies, in order. The timeout
  // replaces their deadlines.
  std::vector<Result<resp::Value>> commands(std::vector<redis::Command> commands, Duration timeout);
  [[nodiscard]] std::vector<redis::NodeId> masters();
  [[nodiscard]] std::string address_of(redis::NodeId node);

  [[nodiscard]] const KeyLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] redis::ClientStats stats();

 private:
  class Loop;

  // Runs `start` on the thread of the store, with a callback for the answer, and waits.
  template <class Answer, class Start>
  Answer wait_for(Start start);
  // The same for a call to Redis, which may fail fast in this thread.
  template <class Value, class Start>
  Result<Value> ask(Start start);

  Result<bool> block_state(const std::string& state, Duration duration);

  [[nodiscard]] base::Deadline deadline() const { return base::deadline_after(timeout_); }

  KeyLayout layout_;
  Duration timeout_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace penstock::redis_store
