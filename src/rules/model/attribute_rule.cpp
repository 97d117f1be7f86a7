#include "rules/model/attribute_rule.hpp"

#include "rules/model/limit_keys.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace penstock::rules {
namespace {

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

void append_value(std::string& subject, const KeySource& key, std::string_view value,
                  const SlotValues& slot_values) {
  if (!key.part.ipv6_prefix || !key.part.ipv4_prefix) return append_escaped_value(subject, value);
  const auto address = key.value.from == ValueSource::From::Attribute
                           ? slot_values[key.value.number].address
                           : base::IpAddress::parse(value);
  if (!address) return append_escaped_value(subject, value);
  address->network(address->is_v4() ? *key.part.ipv4_prefix : *key.part.ipv6_prefix)
      .append_to(subject);
}

}  // namespace

Cost cost_of(const CostSource& source, Cost asked, const SlotValues& slot_values,
             const Captures& captures) {
  if (!source.attribute) return {product(source.units, asked.units)};
  const auto text = value_of(*source.attribute, slot_values, captures);
  std::uint64_t units = 0;
  if (!text) return {product(source.units, asked.units)};
  const char* const end = text->data() + text->size();
  const auto [stop, failure] = std::from_chars(text->data(), end, units);
  const bool is_number = stop == end && !text->empty();
  if (is_number && failure == std::errc::result_out_of_range) {
    units = std::numeric_limits<std::uint64_t>::max();
  } else if (!is_number || failure != std::errc{}) {
    units = source.units;
  }
  return {product(units, asked.units)};
}

std::optional<std::string> subject_of(const AttributeRule& rule, const SlotValues& slot_values,
                                      const Captures& captures) {
  std::size_t length = 0;
  for (const KeySource& key : rule.key) {
    const auto value = value_of(key.value, slot_values, captures);
    if (!value && rule.rule->if_missing != IfMissing::CountAsOne) return std::nullopt;
    if (length > 0) ++length;
    length += key.prefix.size() + value.value_or("").size();
  }
  std::optional<std::string> subject(std::in_place);
  subject->reserve(length);
  for (const KeySource& key : rule.key) {
    if (!subject->empty()) *subject += '&';
    *subject += key.prefix;
    append_value(*subject, key, value_of(key.value, slot_values, captures).value_or(""),
                 slot_values);
  }
  return subject;
}

bool all_hold(const AttributeRule& rule, const SlotValues& slot_values, Captures& captures) {
  return std::all_of(rule.conditions.begin(), rule.conditions.end(),
                     [&](const Condition& one) { return holds(one, slot_values, captures); });
}

bool denies_missing(const AttributeRule& rule) {
  return rule.rule->if_missing == IfMissing::Deny && !rule.rule->shadow;
}

std::string_view missing_attribute(const AttributeRule& rule, const SlotValues& slot_values) {
  Captures captures;
  if (!all_hold(rule, slot_values, captures)) return {};
  for (const KeySource& key : rule.key) {
    if (!value_of(key.value, slot_values, captures)) return key.part.name;
  }
  return {};
}

std::string mismatch_reason(const AttributeRule& rule, const SlotValues& slot_values) {
  Captures captures;
  for (const Condition& condition : rule.conditions) {
    if (!holds(condition, slot_values, captures)) return mismatch_reason(condition, slot_values);
  }
  if (denies_missing(rule) || rule.rule->if_missing == IfMissing::CountAsOne) return {};
  const std::string_view missing = missing_attribute(rule, slot_values);
  if (missing.empty()) return {};
  return std::string(missing) + " is absent, which this rule counts by";
}

}  // namespace penstock::rules
