#include "net/address_limit.hpp"

#include <algorithm>
#include <utility>

namespace penstock::net {
namespace {

constexpr unsigned kIpv6Prefix = 64;

}  // namespace

void AddressLimit::use(std::size_t limit, std::span<const std::string> exempt) {
  std::vector<base::IpNetwork> networks;
  for (const std::string_view loopback : {"127.0.0.0/8", "::1"}) {
    if (const auto network = base::IpNetwork::parse(loopback)) networks.push_back(*network);
  }
  for (const std::string& text : exempt) {
    if (const auto network = base::IpNetwork::parse(text)) networks.push_back(*network);
  }
  const std::lock_guard lock(mutex_);
  limit_ = limit;
  exempt_ = std::move(networks);
}

bool AddressLimit::is_exempt(const base::IpAddress& address) const {
  return std::any_of(exempt_.begin(), exempt_.end(),
                     [&](const base::IpNetwork& network) { return network.contains(address); });
}

std::optional<AddressSlot> AddressLimit::admit(std::string_view address) {
  const std::optional<base::IpAddress> read = base::IpAddress::parse(address);
  if (!read) return AddressSlot{};
  const base::IpAddress counted = read->is_v4() ? *read : read->network(kIpv6Prefix);
  {
    const std::lock_guard lock(mutex_);
    if (limit_ == 0 || is_exempt(*read)) return AddressSlot{};
    std::size_t& open = open_[counted];
    if (open >= limit_) return std::nullopt;
    ++open;
  }
  return AddressSlot(this, [self = shared_from_this(), counted](void*) { self->release(counted); });
}

void AddressLimit::release(const base::IpAddress& counted) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(counted);
  if (found != open_.end() && --found->second == 0) open_.erase(found);
}

std::size_t AddressLimit::addresses() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

}  // namespace penstock::net
