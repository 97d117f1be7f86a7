#include "base/text.hpp"
#include "rules/yaml/diagnostic.hpp"
#include "rules/yaml/domain_format.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace penstock::rules {
namespace {

// Distinct values per map that are compared with those of the rules, and that are reported.
constexpr std::size_t kMaxCompared = 100;
constexpr std::size_t kMaxReported = 3;

bool reads(const ValueSource& source, std::size_t slot) {
  return source.from == ValueSource::From::Attribute && source.number == slot;
}

// Adds what the rule does with the attribute. A rule that compares it with given values may also
// have it in its key.
void add_rule_use(const AttributeRule& rule, std::size_t slot, MapUse& use) {
  bool is_compared = false;
  for (const Condition& condition : rule.conditions) {
    if (condition.slot != slot) continue;
    const auto* const values = std::get_if<OneOf>(&condition.test);
    if (values == nullptr) {
      use.takes_any_value = true;
      return;
    }
    is_compared = true;
    use.matched.insert(use.matched.end(), values->values.begin(), values->values.end());
  }
  if (is_compared) return;
  const bool is_read = (rule.cost.attribute && reads(*rule.cost.attribute, slot)) ||
                       (rule.overrides && reads(rule.overrides->by, slot)) ||
                       std::any_of(rule.key.begin(), rule.key.end(),
                                   [&](const KeySource& key) { return reads(key.value, slot); });
  if (is_read) use.takes_any_value = true;
}

// All uses of one map, in all domains.
struct Expected {
  bool takes_any_value = false;
  std::set<std::string_view> values{};
};

// The values of a map that no rule matches, the first in their order, with the number of keys.
std::map<std::string_view, std::size_t> unmatched_in(const ValueMap& map,
                                                     const Expected& expected) {
  std::map<std::string_view, std::size_t> found;
  for (const auto& [key, value] : map) {
    if (expected.values.contains(value)) continue;
    ++found[value];
    if (found.size() > kMaxCompared) found.erase(std::prev(found.end()));
  }
  return found;
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string suggested_value(std::string_view value, const Expected& expected) {
  const std::string_view bare = without_spaces(value);
  const std::vector<std::string_view> candidates(expected.values.begin(), expected.values.end());
  const auto same = std::find_if(
      candidates.begin(), candidates.end(),
      [&](std::string_view candidate) { return base::equals_ignoring_case(candidate, bare); });
  return same != candidates.end() ? did_you_mean(*same) : suggestion(bare, candidates);
}

std::string keys_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " key" : " keys");
}

void warn_at(const ValueMaps::Origin& origin, std::string message, Diagnostics& diagnostics) {
  report(diagnostics, {.severity = Diagnostic::Severity::Warning,
                       .file = origin.file,
                       .line = origin.position.line,
                       .column = origin.position.column,
                       .message = std::move(message)});
}

}  // namespace

std::vector<MapUse> map_uses_of(const AttributeDomain& domain) {
  std::vector<MapUse> uses;
  for (const DerivedAttribute& derived : domain.derived) {
    MapUse use{.map = derived.map};
    if (derived.fallback) use.matched.push_back(*derived.fallback);
    for (const DerivedAttribute& other : domain.derived) {
      if (other.by == derived.slot) use.takes_any_value = true;
    }
    for (const AttributeRule& rule : domain.rules) add_rule_use(rule, derived.slot, use);
    uses.push_back(std::move(use));
  }
  return uses;
}

// Keys are not printed: they may be API keys. A value that resembles none of the rules may be a
// tier without limits.
void warn_of_unmatched_values(const LoadState& state, Diagnostics& diagnostics) {
  std::map<const ValueMap*, Expected> maps;
  for (const MapUse& use : state.map_uses) {
    Expected& expected = maps[use.map.get()];
    if (use.takes_any_value) expected.takes_any_value = true;
    expected.values.insert(use.matched.begin(), use.matched.end());
  }
  for (const auto& [map, expected] : maps) {
    if (expected.takes_any_value) continue;
    std::size_t reported = 0;
    for (const auto& [value, count] : unmatched_in(*map, expected)) {
      const std::string meant = suggested_value(value, expected);
      if (meant.empty()) continue;
      if (++reported > kMaxReported) break;
      const ValueMaps::Origin origin = state.maps.origin_of(*map, value);
      warn_at(origin,
              "value " + quote_value(value, '\'') + " of map " + quote_value(origin.name, '\'') +
                  " (" + keys_text(count) + ") is matched by no rule" + meant,
              diagnostics);
    }
  }
}

}  // namespace penstock::rules
