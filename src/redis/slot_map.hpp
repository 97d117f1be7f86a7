#pragma once

#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis/hash_slot.hpp"
#include "redis/url.hpp"
#include "resp/value.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace penstock::redis {

// Consecutive slots of one master.
struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  HostPort master{};

  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

// Parses the reply to CLUSTER SLOTS. An empty host means the host that answered; a range with host
// "?" (unknown) is skipped.
[[nodiscard]] Result<std::vector<SlotRange>> read_slot_ranges(const resp::Value& reply,
                                                              std::string_view answered_by);

// The owner of each slot.
//
// Thread-safety: none.
class SlotMap {
 public:
  SlotMap() : owners_(kHashSlots, kNoNode) {}

  [[nodiscard]] std::optional<NodeId> owner(std::uint16_t slot) const;
  void assign(std::uint16_t first, std::uint16_t last, NodeId node);

  // In ascending order.
  [[nodiscard]] std::vector<NodeId> owners() const;

  friend bool operator==(const SlotMap&, const SlotMap&) = default;

 private:
  static constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

  std::vector<NodeId> owners_;
};

}  // namespace penstock::redis
