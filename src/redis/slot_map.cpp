#include "redis/slot_map.hpp"

#include "base/check.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace penstock::redis {
namespace {

using Type = resp::Value::Type;

bool is_slot(const resp::Value& value) {
  return value.is(Type::Integer) && value.integer >= 0 && value.integer < kHashSlots;
}

// [first slot, last slot, [host, port, …] of the master, replicas …]
bool is_range(const resp::Value& value) {
  if (!value.is(Type::Array) || value.elements.size() < 3) return false;
  const resp::Value& master = value.elements[2];
  return is_slot(value.elements[0]) && is_slot(value.elements[1]) &&
         value.elements[0].integer <= value.elements[1].integer && master.is(Type::Array) &&
         master.elements.size() >= 2 &&
         (master.elements[0].is(Type::String) || master.elements[0].is(Type::Nil)) &&
         master.elements[1].is(Type::Integer) && master.elements[1].integer > 0 &&
         master.elements[1].integer <= std::numeric_limits<std::uint16_t>::max();
}

}  // namespace

Result<std::vector<SlotRange>> read_slot_ranges(const resp::Value& reply,
                                                std::string_view answered_by) {
  const Error unreadable{ErrorCode::Protocol, "the reply to CLUSTER SLOTS is malformed"};
  if (!reply.is(Type::Array)) return unreadable;
  std::vector<SlotRange> ranges;
  for (const resp::Value& entry : reply.elements) {
    if (!is_range(entry)) return unreadable;
    const std::vector<resp::Value>& master = entry.elements[2].elements;
    const std::string& host = master[0].text;
    if (host == "?") continue;
    ranges.push_back({.first = static_cast<std::uint16_t>(entry.elements[0].integer),
                      .last = static_cast<std::uint16_t>(entry.elements[1].integer),
                      .master = {.host = host.empty() ? std::string(answered_by) : host,
                                 .port = static_cast<std::uint16_t>(master[1].integer)}});
  }
  return ranges;
}

std::optional<NodeId> SlotMap::owner(std::uint16_t slot) const {
  if (slot >= kHashSlots || owners_[slot] == kNoNode) return std::nullopt;
  return owners_[slot];
}

void SlotMap::assign(std::uint16_t first, std::uint16_t last, NodeId node) {
  PENSTOCK_CHECK(first <= last && last < kHashSlots);
  std::fill(owners_.begin() + first, owners_.begin() + last + 1, node);
}

std::vector<NodeId> SlotMap::owners() const {
  std::set<NodeId> owners(owners_.begin(), owners_.end());
  owners.erase(kNoNode);
  return {owners.begin(), owners.end()};
}

}  // namespace penstock::redis
