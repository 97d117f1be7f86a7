#pragma once

#include "penstock/redis_options.hpp"
#include "redis_store/redis_store.hpp"
#include "servers/redis_server.hpp"
#include "store/memory_store.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::store_adapters {

// A store with its event loop; calls are synchronous.
class AnyStore {
 public:
  using NamedChecks = std::vector<core::NamedCheck>;
  using Names = std::vector<core::LimitKey>;
  using Decisions = store::Decisions;
  using Kind = store::CounterKind;

  [[nodiscard]] static std::unique_ptr<AnyStore> embedded();
  [[nodiscard]] static std::unique_ptr<AnyStore> shared(const RedisOptions& options);

  Result<Decisions> check(const NamedChecks& checks);
  Result<Decisions> refund(const NamedChecks& checks);
  Result<bool> reset(const Names& names);
  Result<bool> block(const Names& names, Duration duration);
  Result<std::int64_t> add(Kind kind, const std::string& name, std::int64_t delta,
                           std::optional<Duration> lifetime = {});
  Result<std::int64_t> get(Kind kind, const std::string& name);
  Result<bool> remove(const std::string& name);
  Result<store::CounterValues> read_counter(const std::string& name);
  Result<bool> expire(const std::string& name, Duration lifetime, store::ExpireCondition condition);
  Result<store::ReservationAnswer> step(store::ReservationRequest ask);
  Result<std::vector<std::string>> due(std::size_t most);
  Result<core::PermitResult> acquire(store::PermitName permit, std::uint32_t limit, Duration lasts);
  Result<core::PermitResult> renew(store::PermitName permit, Duration lasts);
  Result<bool> release(store::PermitName permit);

  [[nodiscard]] store::LimitStore& limits() { return stores().limits; }
  [[nodiscard]] store::StoreHealth health() const {
    return redis_ == nullptr ? store::StoreHealth{} : redis_->health();
  }
  [[nodiscard]] redis_store::RedisStore& shared_store() { return *redis_; }
  // Turns the loop until this holds; false when it never does.
  bool run_until(const std::function<bool()>& holds);

 private:
  [[nodiscard]] store::Stores stores() {
    return redis_ == nullptr ? embedded_->stores() : redis_->stores();
  }
  template <class T, class Ask>
  Result<T> wait_for(Ask ask);

  boost::asio::io_context io_{1};
  std::unique_ptr<store::ShardedTable> memory_;
  std::unique_ptr<store::MemoryStore> embedded_;
  std::unique_ptr<redis_store::RedisStore> redis_;
};

// Timeouts for a busy machine.
[[nodiscard]] RedisOptions long_timeout_options(std::string url, std::string prefix);

}  // namespace penstock::store_adapters
