#include "store/counter_table.hpp"

#include <string>
#include <vector>

namespace penstock::store {
namespace {

// Enough to get around the table long before it has doubled.
constexpr std::size_t kSweepPerCounter = 4;

}  // namespace

Result<std::int64_t> CounterTable::add(std::string_view name, std::int64_t delta,
                                       std::optional<Duration> lifetime) {
  return add(hasher_.counter(name), name, delta, lifetime);
}

Result<Decimal> CounterTable::add(std::string_view name, Decimal delta,
                                  std::optional<Duration> lifetime) {
  const Result<std::int64_t> nanos =
      add(hasher_.decimal_counter(name), name, delta.nanos(), lifetime);
  if (!nanos) return nanos.error();
  return Decimal::from_nanos(*nanos);
}

Result<std::int64_t> CounterTable::add(const Hash128& hash, std::string_view name,
                                       std::int64_t delta, std::optional<Duration> lifetime) {
  if (lifetime && *lifetime <= Duration{0}) {
    return Error{ErrorCode::InvalidInput, "lifetime " + std::to_string(lifetime->count()) +
                                              " us of counter \"" + std::string(name) +
                                              "\" must be above zero"};
  }
  if (const auto sum = try_add(hash, name, delta, lifetime)) return *sum;
  make_room();
  if (const auto sum = try_add(hash, name, delta, lifetime)) return *sum;
  return Error{ErrorCode::CapacityExhausted, "counter \"" + std::string(name) +
                                                 "\" would be one more than the " +
                                                 std::to_string(max_counters_) + " allowed"};
}

std::optional<Result<std::int64_t>> CounterTable::try_add(const Hash128& hash,
                                                          std::string_view name, std::int64_t delta,
                                                          std::optional<Duration> lifetime) {
  const Instant read = clock_.now();
  Part& part = part_of(hash);
  const base::SpinGuard guard(part.lock);
  const Instant now = part.advance_to(read);
  auto found = part.counters.find(hash);
  if (found != part.counters.end() && found->second.ends <= now) {
    part.counters.erase(found);
    count_.fetch_sub(1, std::memory_order_relaxed);
    found = part.counters.end();
  }
  if (found == part.counters.end()) {
    sweep_some(part, now);
    if (!reserve_slot()) return std::nullopt;
    const Instant ends =
        lifetime && *lifetime < Instant::max() - now ? now + *lifetime : Instant::max();
    part.counters.emplace(hash, Counter{.value = delta, .ends = ends});
    part.soonest_end = std::min(part.soonest_end, ends);
    return delta;
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(found->second.value, delta, &sum)) {
    return Error{ErrorCode::Overflow, "adding " + std::to_string(delta) + " to counter \"" +
                                          std::string(name) +
                                          "\" would leave the range of 64 bits"};
  }
  found->second.value = sum;
  return sum;
}

std::int64_t CounterTable::get(std::string_view name) {
  return find(hasher_.counter(name)).value_or(Found{}).value;
}

Decimal CounterTable::get_decimal(std::string_view name) {
  return Decimal::from_nanos(find(hasher_.decimal_counter(name)).value_or(Found{}).value);
}

CounterValues CounterTable::read(std::string_view name) {
  const std::optional<Found> integer = find(hasher_.counter(name));
  const std::optional<Found> decimal = find(hasher_.decimal_counter(name));
  const Duration left = std::max(integer.value_or(Found{}).left, decimal.value_or(Found{}).left);
  CounterValues content;
  if (integer) content.integer = integer->value;
  if (decimal) content.decimal = decimal->value;
  if (left != Duration::max()) content.lifetime = left;
  return content;
}

std::optional<CounterTable::Found> CounterTable::find(const Hash128& hash) {
  const Instant read = clock_.now();
  Part& part = part_of(hash);
  const base::SpinGuard guard(part.lock);
  const Instant now = part.advance_to(read);
  const auto found = part.counters.find(hash);
  if (found == part.counters.end() || found->second.ends <= now) return std::nullopt;
  const Instant ends = found->second.ends;
  return Found{.value = found->second.value,
               .left = ends == Instant::max() ? Duration::max() : ends - now};
}

bool CounterTable::expire(std::string_view name, Duration lifetime, ExpireCondition condition) {
  const bool has_integer = expire(hasher_.counter(name), lifetime, condition);
  const bool has_decimal = expire(hasher_.decimal_counter(name), lifetime, condition);
  return has_integer || has_decimal;
}

bool CounterTable::expire(const Hash128& hash, Duration lifetime, ExpireCondition condition) {
  const Instant read = clock_.now();
  Part& part = part_of(hash);
  const base::SpinGuard guard(part.lock);
  const Instant now = part.advance_to(read);
  const auto found = part.counters.find(hash);
  if (found == part.counters.end() || found->second.ends <= now) return false;
  if (condition == ExpireCondition::IfPersistent && found->second.ends != Instant::max()) {
    return false;
  }
  found->second.ends = lifetime < Instant::max() - now ? now + lifetime : Instant::max();
  part.soonest_end = std::min(part.soonest_end, found->second.ends);
  return true;
}

bool CounterTable::reset(std::string_view name) {
  const bool had_integer = reset(hasher_.counter(name));
  const bool had_decimal = reset(hasher_.decimal_counter(name));
  return had_integer || had_decimal;
}

bool CounterTable::reset(const Hash128& hash) {
  const Instant read = clock_.now();
  Part& part = part_of(hash);
  const base::SpinGuard guard(part.lock);
  const Instant now = part.advance_to(read);
  const auto found = part.counters.find(hash);
  if (found == part.counters.end()) return false;
  const bool was_alive = found->second.ends > now;
  part.counters.erase(found);
  count_.fetch_sub(1, std::memory_order_relaxed);
  return was_alive;
}

bool CounterTable::reserve_slot() noexcept {
  // relaxed: the count alone matters, and nothing is read by it
  std::uint64_t count = count_.load(std::memory_order_relaxed);
  while (count < max_counters_) {
    if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

void CounterTable::make_room() {
  const Instant read = clock_.now();
  for (Part& part : parts_) {
    if (count_.load(std::memory_order_relaxed) < max_counters_) return;
    const base::SpinGuard guard(part.lock);
    const Instant now = part.advance_to(read);
    if (part.soonest_end <= now) sweep_all(part, now);
  }
}

void CounterTable::sweep_some(Part& part, Instant now) {
  std::vector<Hash128> ended;
  for (std::size_t i = 0; i < std::min(kSweepPerCounter, part.counters.bucket_count()); ++i) {
    part.swept = (part.swept + 1) % part.counters.bucket_count();
    for (auto it = part.counters.cbegin(part.swept); it != part.counters.cend(part.swept); ++it) {
      if (it->second.ends <= now) ended.push_back(it->first);
    }
  }
  for (const Hash128& hash : ended) part.counters.erase(hash);
  count_.fetch_sub(ended.size(), std::memory_order_relaxed);
}

void CounterTable::sweep_all(Part& part, Instant now) {
  const std::size_t dropped =
      std::erase_if(part.counters, [&](const auto& each) { return each.second.ends <= now; });
  count_.fetch_sub(dropped, std::memory_order_relaxed);
  part.soonest_end = Instant::max();
  for (const auto& [hash, counter] : part.counters) {
    part.soonest_end = std::min(part.soonest_end, counter.ends);
  }
}

}  // namespace penstock::store
