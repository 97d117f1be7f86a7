#include "gateway/upstream/server_health.hpp"

#include <algorithm>

namespace penstock::gateway {

bool ServerHealth::is_well(base::Deadline now) const noexcept {
  return !is_out_ || (settings_.path.empty() && now >= out_until_);
}

void ServerHealth::request_answered() noexcept {
  failures_ = 0;
  if (settings_.path.empty()) is_out_ = false;
}

void ServerHealth::check_passed() noexcept {
  if (!is_out_) {
    failures_ = 0;
    return;
  }
  if (++passes_ < settings_.healthy) return;
  is_out_ = false;
  failures_ = 0;
}

void ServerHealth::failed(base::Deadline now) noexcept {
  passes_ = 0;
  failures_ = std::min(failures_ + 1, settings_.unhealthy);
  if (failures_ < settings_.unhealthy) return;
  is_out_ = true;
  out_until_ = now + settings_.pause;
}

}  // namespace penstock::gateway
