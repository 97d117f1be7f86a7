#include "service/membership.hpp"

#include <algorithm>

namespace penstock::service {
namespace {

// More than any cluster has; a share is then one unit for most limits.
constexpr std::int64_t kMostNodes = 1'000'000;

}  // namespace

void Membership::heard(std::int64_t nodes) noexcept {
  if (is_configured_) return;
  // relaxed: see nodes()
  nodes_.store(static_cast<unsigned>(std::clamp<std::int64_t>(nodes, 1, kMostNodes)),
               std::memory_order_relaxed);
}

void Heartbeat::beat() {
  send_(kLasts, [members = &members_](const Result<std::int64_t>& nodes) {
    if (nodes) members->heard(*nodes);
  });
}

void Heartbeat::leave() {
  send_(Duration{0}, [](const Result<std::int64_t>&) {});
}

}  // namespace penstock::service
