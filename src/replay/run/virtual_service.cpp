#include "replay/run/virtual_service.hpp"

#include "base/check.hpp"

#include <utility>

namespace penstock::replay {

VirtualService::VirtualService(std::shared_ptr<const rules::Ruleset> rules, std::uint64_t max_keys)
    : memory_(MemoryOptions{.max_keys = max_keys, .clock = &clock_}),
      service_({.stores = store_.stores(), .local = local_, .events = events_, .clock = &clock_},
               std::move(rules)) {}

const service::Answer& VirtualService::decide(Instant time, const rules::Request& request) {
  if (time > clock_.now()) clock_.set(time);
  answer_.reset();
  service_.decide(request, {}, [this](service::Answer said) { answer_.emplace(std::move(said)); });
  PENSTOCK_CHECK(answer_.has_value());  // the memory store answers inline
  return *answer_;
}

}  // namespace penstock::replay
