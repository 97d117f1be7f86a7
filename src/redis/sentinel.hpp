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

// The sentinels in the order in which they are asked: one that answers stays in front, one that
// does not goes to the end.
//
// Thread-safety: none.
class SentinelOrder {
 public:
  // REQUIRES: there is one
  explicit SentinelOrder(std::vector<HostPort> sentinels);

  [[nodiscard]] const HostPort& front() const noexcept { return sentinels_.front(); }
  [[nodiscard]] std::size_t size() const noexcept { return sentinels_.size(); }
  // It may have been overtaken meanwhile; then this changes nothing.
  void on_failure(const HostPort& sentinel);

 private:
  std::vector<HostPort> sentinels_;
};

// Reads the reply to SENTINEL get-master-addr-by-name.
[[nodiscard]] Result<HostPort> read_master_address(const resp::Value& reply, std::string_view name);

// The new address in a message on the channel +switch-master; nothing if it is about another
// master.
[[nodiscard]] std::optional<HostPort> read_switch_master(const resp::Value& message,
                                                         std::string_view name);

}  // namespace penstock::redis
