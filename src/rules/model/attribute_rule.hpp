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

// A rule of our own format, ready to be asked.
namespace penstock::rules {

// Where a value comes from: an attribute of the request, or what a pattern of the rule captured.
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

// How many units a request takes for each that it asks for.
struct CostSource {
  std::uint64_t units = 1;  // when there is no attribute, or it is no number
  std::optional<ValueSource> attribute{};
};

// Other quotas for some: by the value of an attribute. An empty one is unlimited.
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
  std::vector<std::string> limit_names{};  // as many as the rule has limits
};

[[nodiscard]] Cost cost_of(const CostSource& source, Cost asked, const SlotValues& slot_values,
                           const Captures& captures);
// What the rule counts by; nothing when the request lacks a part of it, unless such requests count
// as one.
[[nodiscard]] std::optional<std::string> subject_of(const AttributeRule& rule,
                                                    const SlotValues& slot_values,
                                                    const Captures& captures);
[[nodiscard]] bool all_hold(const AttributeRule& rule, const SlotValues& slot_values,
                            Captures& captures);
// Whether a request without an attribute of the key is denied. A shadow rule never denies.
[[nodiscard]] bool denies_missing(const AttributeRule& rule);
// The first attribute of the key that the request lacks; empty when it has all. REQUIRES: all
// conditions of the rule hold.
[[nodiscard]] std::string_view missing_attribute(const AttributeRule& rule,
                                                 const SlotValues& slot_values);
// Why it does not apply; empty when it does.
[[nodiscard]] std::string mismatch_reason(const AttributeRule& rule, const SlotValues& slot_values);

}  // namespace penstock::rules
