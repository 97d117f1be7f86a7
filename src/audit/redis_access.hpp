#pragma once

#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"
#include "redis_store/blocking_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What commands of the program ask of Redis besides decisions.
namespace penstock::audit {

// Connects, and fails when that cannot be done: with InvalidInput for options that cannot work.
[[nodiscard]] Result<std::unique_ptr<redis_store::BlockingStore>> connect(
    const RedisOptions& options);

// For people: the URL without its password.
[[nodiscard]] std::string shown_url(const RedisOptions& options);

// All answers, or the first failure.
[[nodiscard]] Result<std::vector<resp::Value>> execute_all(redis_store::BlockingStore& store,
                                                           std::vector<redis::Command> commands,
                                                           Duration timeout);

// One answer of one server.
[[nodiscard]] Result<resp::Value> execute_one(redis_store::BlockingStore& store,
                                              redis::Command command, Duration timeout);

// Which keys to walk over, on one server, and how.
struct Scan {
  redis::NodeId node = 0;
  std::string prefix{};  // the keys that begin with this
  unsigned page = 1000;  // keys that the server looks at per step
};

// Hears a page of keys, some perhaps twice. REQUIRES of keys: the prefix has no glob character.
using OnPage = std::function<Result<void>(std::span<const std::string> keys)>;
[[nodiscard]] Result<void> scan(redis_store::BlockingStore& store, const Scan& which,
                                Duration timeout, const OnPage& on_page);

// Deletes the keys that begin with `prefix` on all servers. Returns how many there were.
[[nodiscard]] Result<std::uint64_t> delete_keys(redis_store::BlockingStore& store,
                                                const std::string& prefix, Duration timeout);

// Processor time that all servers have used so far.
[[nodiscard]] Result<std::chrono::microseconds> server_cpu(redis_store::BlockingStore& store,
                                                           Duration timeout);

// What TIME answers.
[[nodiscard]] std::optional<Instant> instant_of(const resp::Value& time);

// For keys that nobody else has: "bench-5f3a0c41". About as long as the usual prefix.
[[nodiscard]] std::string unique_prefix(std::string_view purpose);

}  // namespace penstock::audit
