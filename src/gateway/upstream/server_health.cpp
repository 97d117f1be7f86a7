#include "gateway/upstream/server_health.hpp"

#include <algorithm>

namespace penstock::gateway {

bool ServerHealth::is_healthy(base::Deadline now) const noexcept {
  return !is_ejected_ || (settings_.path.empty() && now >= ejected_until_);
}

void ServerHealth::request_answered() noexcept {
  failures_ = 0;
  if (settings_.path.empty()) is_ejected_ = false;
}

void ServerHealth::check_passed() noexcept {
  if (!is_ejected_) {
    failures_ = 0;
    return;
  }
  if (++passes_ < settings_.healthy) return;
  is_ejected_ = false;
  failures_ = 0;
}

void ServerHealth::failed(base::Deadline now) noexcept {
  passes_ = 0;
  failures_ = std::min(failures_ + 1, settings_.unhealthy);
  if (failures_ < settings_.unhealthy) return;
  is_ejected_ = true;
  ejected_until_ = now + settings_.pause;
}

}  // namespace penstock::gateway
