#include "penstock/limiter.hpp"

#include "store/counter_table.hpp"
#include "store/sharded_table.hpp"

#include <stdexcept>
#include <string>

namespace penstock {
namespace {

// 2^32 keys would take 190 GB.
constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 32U;

void reject(std::string_view option, std::uint64_t value, std::string_view reason) {
  throw std::invalid_argument("MemoryOptions: " + std::string(option) + " " +
                              std::to_string(value) + " " + std::string(reason));
}

const MemoryOptions& validated(const MemoryOptions& options) {
  if (options.max_keys == 0) reject("max_keys", options.max_keys, "must be at least 1");
  if (options.max_keys > kMaxKeys) {
    reject("max_keys", options.max_keys, "is above the most, 4294967296");
  }
  return options;
}

}  // namespace

Limiter::Limiter(const MemoryOptions& options)
    : store_(std::make_unique<store::ShardedTable>(validated(options))) {}
Limiter::~Limiter() = default;
Limiter::Limiter(Limiter&&) noexcept = default;
Limiter& Limiter::operator=(Limiter&&) noexcept = default;

Decision Limiter::check(std::string_view key, const Quota& quota, Cost cost) noexcept {
  return store_->check(key, quota, cost);
}

Decision Limiter::check(std::string_view key, const Limits& limits, Cost cost) noexcept {
  return store_->check(key, limits, cost);
}

Decision Limiter::check_all(std::span<const Check> checks, std::span<Decision> each) noexcept {
  return store_->check_all(checks, each);
}

void Limiter::check_each(std::span<const Check> checks, std::span<Decision> decisions) noexcept {
  store_->check_each(checks, decisions);
}

Decision Limiter::refund(std::string_view key, const Quota& quota, Cost cost) noexcept {
  return store_->refund(key, quota, cost);
}

Decision Limiter::refund(std::string_view key, const Limits& limits, Cost cost) noexcept {
  return store_->refund(key, limits, cost);
}

bool Limiter::reset(std::string_view key) noexcept { return store_->reset(key); }

bool Limiter::reset(std::string_view key, const Limits& limits) noexcept {
  return store_->reset(key, limits);
}

void Limiter::block(std::string_view key, Duration duration) noexcept {
  store_->block(key, duration);
}

bool Limiter::unblock(std::string_view key) noexcept { return store_->unblock(key); }

Counters Limiter::counters() noexcept { return Counters(store_->counters()); }

MemoryStats Limiter::stats() const noexcept { return store_->stats(); }

std::size_t Limiter::sweep(std::size_t entries) noexcept { return store_->sweep(entries); }

Result<std::int64_t> Counters::add(std::string_view name, std::int64_t delta,
                                   std::optional<Duration> lifetime) noexcept {
  return store_->add(name, delta, lifetime);
}

Result<Decimal> Counters::add(std::string_view name, Decimal delta,
                              std::optional<Duration> lifetime) noexcept {
  return store_->add(name, delta, lifetime);
}

std::int64_t Counters::get(std::string_view name) const noexcept { return store_->get(name); }

Decimal Counters::get_decimal(std::string_view name) const noexcept {
  return store_->get_decimal(name);
}

bool Counters::reset(std::string_view name) noexcept { return store_->reset(name); }

}  // namespace penstock
