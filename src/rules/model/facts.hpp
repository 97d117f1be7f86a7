#pragma once

#include "rules/model/ip_address.hpp"
#include "rules/model/path_pattern.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::rules {

// One attribute of a request as conditions look at it. Each attribute that a domain mentions has a
// number, its slot.
struct Fact {
  std::optional<std::string_view> value{};
  PathSegments segments{};             // where patterns ask for them
  std::optional<IpAddress> address{};  // where networks ask for it, and it is one
};
// Of one descriptor; a domain that mentions more attributes goes to the heap.
using Facts = boost::container::small_vector<Fact, 8>;

// What is read out of a value besides its text.
struct SlotUse {
  bool as_path = false;
  bool as_address = false;
};

inline void set_fact(Fact& fact, std::string_view value, SlotUse use) {
  fact.value = value;
  if (use.as_path) fact.segments = split_path(value);
  if (use.as_address) fact.address = IpAddress::parse(value);
}

}  // namespace penstock::rules
