#pragma once

#include "base/ip_address.hpp"
#include "rules/model/path_pattern.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::rules {

// One attribute of a request, parsed for conditions. Each attribute that a domain uses has a
// number, its slot.
struct SlotValue {
  std::optional<std::string_view> value{};
  PathSegments segments{};                   // when a path pattern uses it
  std::optional<base::IpAddress> address{};  // when a network uses it, and it is valid
};
// Of one descriptor; more attributes are stored on the heap.
using SlotValues = boost::container::small_vector<SlotValue, 8>;

// Which forms of a value conditions need, in addition to its text.
struct SlotUse {
  bool as_path = false;
  bool as_address = false;
};

inline void set_slot_value(SlotValue& slot_value, std::string_view value, SlotUse use) {
  slot_value.value = value;
  if (use.as_path) slot_value.segments = split_path(value);
  if (use.as_address) slot_value.address = base::IpAddress::parse(value);
}

}  // namespace penstock::rules
