#pragma once

#include "base/ip_address.hpp"
#include "rules/model/path_pattern.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::rules {

// One attribute of a request as conditions look at it. Each attribute that a domain mentions has a
// number, its slot.
struct SlotValue {
  std::optional<std::string_view> value{};
  PathSegments segments{};                   // where patterns ask for them
  std::optional<base::IpAddress> address{};  // where networks ask for it, and it is one
};
// Of one descriptor; a domain that mentions more attributes goes to the heap.
using SlotValues = boost::container::small_vector<SlotValue, 8>;

// What is read out of a value besides its text.
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
