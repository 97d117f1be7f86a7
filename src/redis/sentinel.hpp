#pragma once

#include "penstock/result.hpp"
#include "redis/url.hpp"
#include "resp/value.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis {

// The sentinels in query order: one that answers stays first, one that fails moves to the end.
//
// Thread-safety: none.
class SentinelOrder {
 public:
  // REQUIRES: at least one
  explicit SentinelOrder(std::vector<HostPort> sentinels);

  [[nodiscard]] const HostPort& front() const noexcept { return sentinels_.front(); }
  [[nodiscard]] std::size_t size() const noexcept { return sentinels_.size(); }
  // No effect when the sentinel is no longer the first.
  void on_failure(const HostPort& sentinel);

 private:
  std::vector<HostPort> sentinels_;
};

// Parses the reply to SENTINEL get-master-addr-by-name.
[[nodiscard]] Result<HostPort> read_master_address(const resp::Value& reply, std::string_view name);

// The new address in a message on the channel +switch-master; empty if it is about another master.
[[nodiscard]] std::optional<HostPort> read_switch_master(const resp::Value& message,
                                                         std::string_view name);

}  // namespace penstock::redis
