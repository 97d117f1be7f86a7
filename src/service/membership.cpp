#include "service/membership.hpp"

#include <algorithm>

namespace penstock::service {
namespace {

// More than any cluster has; a share is then one unit for most limits.
constexpr std::int64_t kMaxNodes = 1'000'000;

}  // namespace

void Membership::set_nodes(std::int64_t nodes) noexcept {
  if (is_configured_) return;
  // relaxed: see nodes()
  nodes_.store(static_cast<unsigned>(std::clamp<std::int64_t>(nodes, 1, kMaxNodes)),
               std::memory_order_relaxed);
}

void Heartbeat::beat() {
  send_(kTtl, [members = &members_](const Result<std::int64_t>& nodes) {
    if (nodes) members->set_nodes(*nodes);
  });
}

void Heartbeat::leave() {
  send_(Duration{0}, [](const Result<std::int64_t>&) {});
}

}  // namespace penstock::service
