#include "net/address_limit.hpp"

#include <algorithm>

namespace penstock::net {
namespace {

constexpr unsigned kIpv6Prefix = 64;

}  // namespace

AddressLimit::AddressLimit(std::size_t limit, std::span<const std::string> exempt) : limit_(limit) {
  for (const std::string_view loopback : {"127.0.0.0/8", "::1"}) {
    if (const auto network = base::IpNetwork::parse(loopback)) exempt_.push_back(*network);
  }
  for (const std::string& text : exempt) {
    if (const auto network = base::IpNetwork::parse(text)) exempt_.push_back(*network);
  }
}

bool AddressLimit::is_exempt(const base::IpAddress& address) const {
  return std::any_of(exempt_.begin(), exempt_.end(),
                     [&](const base::IpNetwork& network) { return network.contains(address); });
}

std::optional<AddressSlot> AddressLimit::admit(std::string_view address) {
  const std::optional<base::IpAddress> read = base::IpAddress::parse(address);
  if (limit_ == 0 || !read || is_exempt(*read)) return AddressSlot{};
  const base::IpAddress counted = read->is_v4() ? *read : read->network(kIpv6Prefix);
  {
    const std::lock_guard lock(mutex_);
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
