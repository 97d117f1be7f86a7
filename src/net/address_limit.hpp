#pragma once

#include "base/ip_address.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::net {

// One connection of an address, counted until the last copy is destroyed. Null: it is not counted.
using AddressSlot = std::shared_ptr<void>;

// Limits the connections from one IP address to one listener, across all workers. IPv6 addresses
// count by /64, the usual allocation of one customer. Loopback and the exempt
// networks (trusted proxies) are not limited. Memory: an entry per address with open connections.
//
// Thread-safety: all members, from any thread.
class AddressLimit : public std::enable_shared_from_this<AddressLimit> {
 public:
  // 0: no limit. Exempt networks that cannot be read are skipped; the configuration checks them.
  AddressLimit(std::size_t limit, std::span<const std::string> exempt) { use(limit, exempt); }

  // For connections from now on. Open ones stay as they are, counted or exempt.
  void use(std::size_t limit, std::span<const std::string> exempt);

  // Empty when the address has reached the limit. REQUIRES: owned by a shared_ptr.
  [[nodiscard]] std::optional<AddressSlot> admit(std::string_view address);

  // Addresses with open connections.
  [[nodiscard]] std::size_t addresses() const;

 private:
  struct Hash {
    std::size_t operator()(const base::IpAddress& address) const noexcept { return address.hash(); }
  };

  // REQUIRES: the mutex is held.
  [[nodiscard]] bool is_exempt(const base::IpAddress& address) const;
  void release(const base::IpAddress& counted);

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::size_t limit_ = 0;
  std::vector<base::IpNetwork> exempt_;
  std::unordered_map<base::IpAddress, std::size_t, Hash> open_;
};

}  // namespace penstock::net
