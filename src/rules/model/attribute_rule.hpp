#pragma once

#include "penstock/check.hpp"
#include "rules/model/condition.hpp"
#include "rules/model/rule.hpp"
#include "rules/model/text_map.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A compiled rule of our own format.
namespace penstock::rules {

// Where a value comes from: an attribute of the request, or a capture of a pattern of the rule.
struct ValueSource {
  enum class From : std::uint8_t { Attribute, Capture };
  From from = From::Attribute;
  std::size_t number = 0;
};
[[nodiscard]] inline std::optional<std::string_view> value_of(const ValueSource& source,
                                                              const SlotValues& slot_values,
                                                              const Captures& captures) {
  if (source.from == ValueSource::From::Attribute) return slot_values[source.number].value;
  const std::string_view value = captures.values[source.number];
  return value.data() == nullptr ? std::nullopt : std::optional(value);
}

struct KeySource {
  KeyPart part;
  ValueSource value;
  std::string prefix;  // "api_key=", escaped
};

// Units charged per unit of the request's cost.
struct CostSource {
  std::uint64_t units = 1;  // when the attribute is missing or not a number
  std::optional<ValueSource> attribute{};
};

// Other quotas, by the value of an attribute. Empty: unlimited.
using QuotaMap = TextMap<std::optional<Quota>>;
struct Overrides {
  ValueSource by;
  std::shared_ptr<const QuotaMap> quotas;
};

struct AttributeRule {
  const Rule* rule = nullptr;
  std::vector<Condition> conditions{};
  std::vector<KeySource> key{};
  CostSource cost{};
  std::optional<Overrides> overrides{};
  std::vector<std::string> limit_names{};  // one per limit of the rule
};

[[nodiscard]] Cost cost_of(const CostSource& source, Cost asked, const SlotValues& slot_values,
                           const Captures& captures);
// The key of the request under this rule. Empty when an attribute is missing, unless such requests
// count as one.
[[nodiscard]] std::optional<std::string> subject_of(const AttributeRule& rule,
                                                    const SlotValues& slot_values,
                                                    const Captures& captures);
[[nodiscard]] bool all_hold(const AttributeRule& rule, const SlotValues& slot_values,
                            Captures& captures);
// Whether a request without an attribute of the key is denied. A shadow rule never denies.
[[nodiscard]] bool denies_missing(const AttributeRule& rule);
// The first missing attribute of the key; empty when none is missing. REQUIRES: all conditions of
// the rule hold.
[[nodiscard]] std::string_view missing_attribute(const AttributeRule& rule,
                                                 const SlotValues& slot_values);
// Why the rule does not apply; empty when it does.
[[nodiscard]] std::string mismatch_reason(const AttributeRule& rule, const SlotValues& slot_values);

}  // namespace penstock::rules
