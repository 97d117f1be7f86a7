#pragma once

#include "penstock/time.hpp"
#include "redis_store/command_executor.hpp"
#include "servers/redis_server.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace penstock::differential {

// The stored value of a key in Redis.
struct Stored {
  std::optional<std::string> bytes{};
  std::int64_t expires_ms = 0;  // PEXPIRETIME; -1 for a key that never expires, -2 for no key
};

// A real Redis with the real scripts, except that their clock is a key which the test sets. The
// virtual time is a century ahead of real time, so that no key expires.
//
// Requests are sent immediately and answered by wait(). Thread-safety: none.
class VirtualRedis {
 public:
  // Within this range all sums in scripts stay below 2^53, even for a bucket that takes 100 years
  // to fill.
  static constexpr Instant kEarliest{Duration{4'000'000'000'000'000}};
  static constexpr Instant kDefaultNow{Duration{4'200'000'000'123'457}};
  static constexpr Instant kLatest{Duration{5'500'000'000'000'000}};

  VirtualRedis();
  ~VirtualRedis();
  VirtualRedis(const VirtualRedis&) = delete;
  VirtualRedis& operator=(const VirtualRedis&) = delete;

  void set_clock(Instant now);
  // Removes all keys and sets the clock.
  void start_over(Instant now);

  // Requests up to the next wait() are batched, like those of many callers.
  void check(const redis_store::KeyCheck& check, std::optional<Result<Decision>>& answer);
  void check_all(redis_store::CheckRequest request,
                 std::optional<Result<std::vector<Decision>>>& answer);
  void refund(redis_store::CheckRequest request,
              std::optional<Result<std::vector<Decision>>>& answer);
  void lease(redis_store::KeyLeaseRequest ask, std::optional<Result<store::LeaseGrant>>& answer);
  void reset(std::vector<std::string> keys, std::optional<Result<bool>>& answer);
  void block(const std::string& key, Duration duration, std::optional<Result<bool>>& answer);
  void remove(const std::string& key);
  // Any other call, answered on return: `question` receives a callback to call when done.
  void ask(const std::function<void(const std::function<void()>& done)>& question);
  [[nodiscard]] const std::unique_ptr<redis_store::CommandExecutor>& store() const {
    return store_;
  }
  // Waits for all answers. Throws on timeout.
  void wait();

  [[nodiscard]] std::vector<Stored> read_keys(const std::vector<std::string>& keys);

 private:
  void send(std::string bytes, std::function<void(const Result<resp::Value>&)> heard);

  servers::RedisServer server_;
  redis_store::ScriptSet scripts_;
  redis::Script read_keys_;
  boost::asio::io_context io_;
  std::vector<redis_store::KeyLeaseRequest> leases_;  // sent at the next wait() in one batch
  std::vector<std::optional<Result<store::LeaseGrant>>*> leased_;
  std::size_t open_ = 0;
  bool is_closing_ = false;
  std::unique_ptr<redis_store::CommandExecutor> store_;
};

}  // namespace penstock::differential
