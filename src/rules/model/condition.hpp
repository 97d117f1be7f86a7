#pragma once

#include "base/ip_address.hpp"
#include "base/text_hash.hpp"
#include "penstock/result.hpp"
#include "rules/match/network_table.hpp"
#include "rules/model/path_pattern.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

namespace re2 {
class RE2;
}

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

struct Condition;

// Conditions on a value. All except Present{false} and Not require that it is present.
struct OneOf {
  std::vector<std::string> values;
  std::unordered_set<std::string, base::TextHash, std::equal_to<>> lookup{};  // when they are many
};
struct Prefix {
  std::string text;
};
struct Wildcard {
  std::vector<std::string> patterns;  // any of them
};
struct PathOneOf {
  std::vector<PathPattern> patterns;  // the first that matches captures
  std::optional<PathTrie> lookup{};   // when they are many
};
struct InNetwork {
  std::vector<base::IpNetwork> networks;
  NetworkTable lookup{};
};
struct FullMatch {
  std::string text;
  std::shared_ptr<const re2::RE2> regex;
};
struct Present {
  bool wanted = true;
};
struct Not {
  std::vector<Condition> conditions;  // of the same attribute; not all of them hold
};

// A rule's condition on one attribute.
struct Condition {
  std::size_t slot = 0;
  std::string attribute{};  // its name, for people
  std::variant<OneOf, Prefix, Wildcard, PathOneOf, InNetwork, FullMatch, Present, Not> test{};
};

[[nodiscard]] OneOf make_one_of(std::vector<std::string> values);
[[nodiscard]] PathOneOf make_path_one_of(std::vector<PathPattern> patterns);
[[nodiscard]] InNetwork make_in_network(std::vector<base::IpNetwork> networks);
// RE2's syntax; the whole value must match. Rejected when it needs more than 1 MiB.
[[nodiscard]] Result<FullMatch> make_full_match(std::string_view regex);

[[nodiscard]] bool holds(const Condition& condition, const SlotValues& slot_values,
                         Captures& captures);
// Which forms of a value the condition needs.
[[nodiscard]] SlotUse use_of(const Condition& condition);
// "one of GET, POST", "/v1/**", "in 10.0.0.0/8": ends the sentence "path is not ...".
[[nodiscard]] std::string describe(const Condition& condition);
// Why it does not hold: "path "/v2" is not /v1/**".
[[nodiscard]] std::string mismatch_reason(const Condition& condition,
                                          const SlotValues& slot_values);

}  // namespace penstock::rules
