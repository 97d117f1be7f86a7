#include "penstock/counters.hpp"

#include "store/counter_table.hpp"

namespace penstock {

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
