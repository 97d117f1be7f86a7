#include "rules/model/condition.hpp"

#include "rules/yaml/yaml_reader.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace penstock::rules {
namespace {

constexpr std::size_t kManyValues = 8;
constexpr std::int64_t kRegexBytes = std::int64_t{1} << 20U;
constexpr std::size_t kMaxRegexText = 1000;
constexpr std::size_t kShownValues = 5;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

bool contains(const OneOf& test, std::string_view value) {
  if (!test.lookup.empty()) return test.lookup.contains(value);
  return std::find(test.values.begin(), test.values.end(), value) != test.values.end();
}

bool any_matches(const PathOneOf& test, const PathSegments& path, Captures& captures) {
  const auto matches = [&](const PathPattern& pattern) {
    Captures taken = captures;
    if (!pattern.matches(path, taken)) return false;
    captures = taken;
    return true;
  };
  if (!test.lookup) return std::any_of(test.patterns.begin(), test.patterns.end(), matches);
  RuleNumbers found;
  test.lookup->find(path, found);
  std::sort(found.begin(), found.end());
  return std::any_of(found.begin(), found.end(),
                     [&](std::uint32_t number) { return matches(test.patterns[number]); });
}

template <class Range, class Text>
std::string joined(const Range& range, const Text& text) {
  std::string all = range.size() > 1 ? "one of " : "";
  std::size_t count = 0;
  for (const auto& one : range) {
    if (count > 0) all += ", ";
    if (count++ == kShownValues) return all + "...";
    all += text(one);
  }
  return all;
}

std::string network_text(const base::IpNetwork& network) {
  std::string text;
  network.address.append_to(text);
  if (network.prefix < network.address.bits()) text += "/" + std::to_string(network.prefix);
  return text;
}

}  // namespace

OneOf make_one_of(std::vector<std::string> values) {
  OneOf test{.values = std::move(values)};
  if (test.values.size() > kManyValues) test.lookup.insert(test.values.begin(), test.values.end());
  return test;
}

PathOneOf make_path_one_of(std::vector<PathPattern> patterns) {
  PathOneOf test{.patterns = std::move(patterns)};
  if (test.patterns.size() <= kManyValues) return test;
  test.lookup.emplace();
  for (std::uint32_t i = 0; i < test.patterns.size(); ++i) test.lookup->add(test.patterns[i], i);
  return test;
}

InNetwork make_in_network(std::vector<base::IpNetwork> networks) {
  InNetwork test{.networks = std::move(networks)};
  for (const base::IpNetwork& network : test.networks) test.lookup.add(network, 0);
  return test;
}

Result<FullMatch> make_full_match(std::string_view regex) {
  if (regex.size() > kMaxRegexText) {
    return Error{ErrorCode::InvalidInput, "a regular expression of " +
                                              std::to_string(regex.size()) + " characters; " +
                                              std::to_string(kMaxRegexText) + " at most"};
  }
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kRegexBytes);
  auto compiled =
      std::make_shared<const RE2>(re2::StringPiece(regex.data(), regex.size()), options);
  if (!compiled->ok()) {
    return Error{ErrorCode::InvalidInput,
                 "regular expression " + quote_value(regex) + ": " + compiled->error()};
  }
  return FullMatch{.text = std::string(regex), .regex = std::move(compiled)};
}

bool holds(const Condition& condition, const SlotValues& slot_values, Captures& captures) {
  const SlotValue& slot_value = slot_values[condition.slot];
  if (const auto* present = std::get_if<Present>(&condition.test)) {
    return slot_value.value.has_value() == present->wanted;
  }
  if (const auto* negated = std::get_if<Not>(&condition.test)) {
    Captures ignored;
    return !std::all_of(negated->conditions.begin(), negated->conditions.end(),
                        [&](const Condition& inner) { return holds(inner, slot_values, ignored); });
  }
  if (!slot_value.value) return false;
  const std::string_view value = *slot_value.value;
  return std::visit(
      Overloaded{
          [&](const OneOf& test) { return contains(test, value); },
          [&](const Prefix& test) { return value.starts_with(test.text); },
          [&](const Wildcard& test) {
            return std::any_of(
                test.patterns.begin(), test.patterns.end(),
                [&](const std::string& pattern) { return wildcard_matches(pattern, value); });
          },
          [&](const PathOneOf& test) { return any_matches(test, slot_value.segments, captures); },
          [&](const InNetwork& test) {
            return slot_value.address.has_value() && test.lookup.contains(*slot_value.address);
          },
          [&](const FullMatch& test) {
            return RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *test.regex);
          },
          [](const auto&) { return false; }},
      condition.test);
}

SlotUse use_of(const Condition& condition) {
  if (const auto* negated = std::get_if<Not>(&condition.test)) {
    SlotUse use;
    for (const Condition& inner : negated->conditions) {
      const SlotUse one = use_of(inner);
      use.as_path = use.as_path || one.as_path;
      use.as_address = use.as_address || one.as_address;
    }
    return use;
  }
  return {.as_path = std::holds_alternative<PathOneOf>(condition.test),
          .as_address = std::holds_alternative<InNetwork>(condition.test)};
}

std::string describe(const Condition& condition) {
  const auto plain = [](const std::string& text) { return text; };
  return std::visit(
      Overloaded{
          [&](const OneOf& test) { return joined(test.values, plain); },
          [&](const Prefix& test) { return test.text + "..."; },
          [&](const Wildcard& test) { return joined(test.patterns, plain); },
          [&](const PathOneOf& test) {
            return joined(test.patterns, [](const PathPattern& one) { return one.text(); });
          },
          [&](const InNetwork& test) { return "in " + joined(test.networks, network_text); },
          [&](const FullMatch& test) { return "like " + test.text; },
          [&](const Present& test) { return std::string(test.wanted ? "present" : "absent"); },
          [&](const Not& test) {
            return "not " + joined(test.conditions, [](const auto& one) { return describe(one); });
          }},
      condition.test);
}

std::string mismatch_reason(const Condition& condition, const SlotValues& slot_values) {
  const std::optional<std::string_view>& value = slot_values[condition.slot].value;
  if (!value) return condition.attribute + " is absent, and not " + describe(condition);
  const std::string described = describe(condition);
  constexpr std::string_view kNot = "not ";
  const bool is_negated = std::holds_alternative<Not>(condition.test);
  return condition.attribute + " " + quote_value(*value) +
         (is_negated ? " is " + described.substr(kNot.size()) : " is not " + described);
}

}  // namespace penstock::rules
