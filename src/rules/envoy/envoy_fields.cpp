#include "rules/envoy/envoy_fields.hpp"

#include "base/text.hpp"
#include "rules/yaml/diagnostic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::rules {
namespace {

using namespace std::string_view_literals;

constexpr std::array kTrue{"true"sv, "True"sv, "TRUE"sv, "y"sv,  "Y"sv, "yes"sv,
                           "Yes"sv,  "YES"sv,  "on"sv,   "On"sv, "ON"sv};
constexpr std::array kFalse{"false"sv, "False"sv, "FALSE"sv, "n"sv,   "N"sv,  "no"sv,
                            "No"sv,    "NO"sv,    "off"sv,   "Off"sv, "OFF"sv};
constexpr std::array kOddFloats{".inf"sv, ".Inf"sv, ".INF"sv, ".nan"sv, ".NaN"sv, ".NAN"sv};
// The words of kTrue and kFalse that are booleans everywhere come first.
constexpr std::ptrdiff_t kAlways = 3;

bool is_sign(char c) { return c == '+' || c == '-'; }

std::string_view without_sign(std::string_view word) {
  if (!word.empty() && is_sign(word.front())) word.remove_prefix(1);
  return word;
}

std::string without_underscores(std::string_view word) {
  std::string plain(word);
  std::erase(plain, '_');
  return plain;
}

// Takes the digits from the front and says how many they were.
std::size_t take_digits(std::string_view& word) {
  const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
  word.remove_prefix(count);
  return count;
}

bool is_float(std::string_view word) {
  const std::string plain = without_underscores(word);
  std::string_view rest = without_sign(plain);
  if (std::ranges::find(kOddFloats, rest) != kOddFloats.end()) return true;
  const std::size_t whole = take_digits(rest);
  std::size_t part = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    part = take_digits(rest);
  }
  if (whole + part == 0) return false;
  if (rest.empty()) return true;
  if (rest.front() != 'e' && rest.front() != 'E') return false;
  rest = without_sign(rest.substr(1));
  return take_digits(rest) > 0 && rest.empty();
}

// "0x", "0o", "0b" and the "0" of octal numbers are taken from the front.
int take_radix(std::string_view& digits) {
  if (digits.size() < 2 || digits.front() != '0') return 10;
  int radix = 8;
  switch (digits[1]) {
    case 'x':
    case 'X': radix = 16; break;
    case 'b':
    case 'B': radix = 2; break;
    case 'o':
    case 'O': break;
    default: digits.remove_prefix(1); return 8;
  }
  digits.remove_prefix(2);
  return radix;
}

// Empty for infinities and NaN.
std::optional<double> finite_number(std::string_view word) {
  std::string plain = without_underscores(word);
  if (plain.starts_with('+')) plain.erase(0, 1);
  const auto value = base::parse_number<double>(plain);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

MetadataValue read_scalar(const YamlNode& node) {
  switch (scalar_of(node)) {
    case EnvoyScalar::Text: break;
    case EnvoyScalar::Boolean: return {envoy_boolean(node.raw()).value_or(false)};
    case EnvoyScalar::Integer: return {static_cast<double>(envoy_integer(node.raw()).value_or(0))};
    case EnvoyScalar::Float: {
      if (const std::optional<double> value = finite_number(node.raw())) return {*value};
      node.error("error parsing metadata: " + quote_value(node.raw()) + " is not a finite number");
      return {};
    }
  }
  return {std::string(node.raw())};
}

// The YAML parser bounds the depth.
// NOLINTNEXTLINE(misc-no-recursion)
MetadataValue read_value(const YamlNode& node) {
  if (node.is_nothing()) return {};
  if (node.is_text()) return read_scalar(node);
  if (node.is_map()) return {read_metadata(node)};
  MetadataList list;
  for (const YamlNode& element : node.list()) list.push_back(read_value(element));
  return {std::move(list)};
}

struct Word {
  std::string_view name;
  EnvoyMap home;
  bool ours = false;  // unknown to envoyproxy/ratelimit
};

constexpr std::array kWords{
    Word{"domain", EnvoyMap::File},
    Word{"descriptors", EnvoyMap::File},
    Word{"on_failure", EnvoyMap::File, true},
    Word{"mode", EnvoyMap::File, true},
    Word{"lease_lifetime", EnvoyMap::File, true},
    Word{"share", EnvoyMap::File, true},
    Word{"descriptors", EnvoyMap::Descriptor},
    Word{"key", EnvoyMap::Descriptor},
    Word{"value", EnvoyMap::Descriptor},
    Word{"rate_limit", EnvoyMap::Descriptor},
    Word{"shadow_mode", EnvoyMap::Descriptor},
    Word{"quota_mode", EnvoyMap::Descriptor},
    Word{"detailed_metric", EnvoyMap::Descriptor},
    Word{"value_to_metric", EnvoyMap::Descriptor},
    Word{"share_threshold", EnvoyMap::Descriptor},
    Word{"metadata", EnvoyMap::Descriptor},
    Word{"unit", EnvoyMap::RateLimit},
    Word{"requests_per_unit", EnvoyMap::RateLimit},
    Word{"unlimited", EnvoyMap::RateLimit},
    Word{"replaces", EnvoyMap::RateLimit},
    Word{"name", EnvoyMap::RateLimit},
    Word{"algorithm", EnvoyMap::RateLimit, true},
    Word{"burst", EnvoyMap::RateLimit, true},
    Word{"count_denied", EnvoyMap::RateLimit, true},
    Word{"on_failure", EnvoyMap::RateLimit, true},
    Word{"mode", EnvoyMap::RateLimit, true},
    Word{"lease_lifetime", EnvoyMap::RateLimit, true},
    Word{"share", EnvoyMap::RateLimit, true},
    Word{"name", EnvoyMap::Replaces},
};

std::string_view place_of(EnvoyMap map) {
  switch (map) {
    case EnvoyMap::File: return "at the top of the file";
    case EnvoyMap::Descriptor: return "in a descriptor";
    case EnvoyMap::RateLimit: return "in rate_limit";
    case EnvoyMap::Replaces: return "in replaces";
  }
  return {};
}

std::string suggestion_for(std::string_view typed, EnvoyMap kind) {
  std::vector<std::string_view> candidates;
  for (const Word& word : kWords) {
    if (word.home == kind) candidates.push_back(word.name);
  }
  return suggestion(typed, candidates);
}

bool knows(const YamlNode& key, EnvoyMap kind) {
  const std::string name(key.raw());
  if (scalar_of(key) != EnvoyScalar::Text) {
    key.error("config error, key is not of type string: " + name);
    return false;
  }
  const Word* elsewhere = nullptr;
  for (const Word& word : kWords) {
    if (word.name != name) continue;
    if (word.home == kind) return true;
    if (elsewhere == nullptr || elsewhere->ours) elsewhere = &word;
  }
  if (elsewhere == nullptr) {
    key.error("config error, unknown key '" + name + "'" + suggestion_for(name, kind));
    return false;
  }
  const std::string belongs = "it belongs " + std::string(place_of(elsewhere->home));
  if (elsewhere->ours) {
    key.error("config error, unknown key '" + name + "' here; " + belongs);
  } else {
    key.warning("'" + name + "' has no effect here; " + belongs);
  }
  return false;
}

// The walk that envoyproxy/ratelimit makes over a file before it reads it.
bool is_acceptable(const YamlEntry& entry) {
  if (entry.key.raw() == "metadata") return true;
  if (entry.value.is_text() && scalar_of(entry.value) == EnvoyScalar::Float) {
    entry.value.error("error checking config: " + std::string(entry.key.raw()) +
                      " is a number with a fraction; in quotes it is a text");
    return false;
  }
  if (!entry.value.is_list()) return true;
  for (const YamlNode& element : entry.value.list()) {
    if (element.is_map()) continue;
    element.error("config error, yaml file contains list of type other than map" +
                  (element.is_text() ? ": " + std::string(element.raw()) : std::string{}));
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> envoy_integer(std::string_view word) {
  const std::string plain = without_underscores(word);
  std::string_view digits = without_sign(plain);
  const int radix = take_radix(digits);
  if (digits.empty() || is_sign(digits.front())) return std::nullopt;
  const std::string number = (plain.starts_with('-') ? "-" : "") + std::string(digits);
  return base::parse_number<std::int64_t>(number, radix);
}

std::optional<bool> envoy_boolean(std::string_view word) {
  if (std::ranges::find(kTrue, word) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, word) != kFalse.end()) return false;
  return std::nullopt;
}

EnvoyScalar scalar_of(const YamlNode& node) {
  const std::string_view word = node.raw();
  if (node.is_quoted() || word.empty()) return EnvoyScalar::Text;
  const auto is_always = [word](const auto& words) {
    return std::find(words.begin(), words.begin() + kAlways, word) != words.begin() + kAlways;
  };
  if (is_always(kTrue) || is_always(kFalse)) return EnvoyScalar::Boolean;
  if (envoy_integer(word)) return EnvoyScalar::Integer;
  return is_float(word) ? EnvoyScalar::Float : EnvoyScalar::Text;
}

// NOLINTNEXTLINE(misc-no-recursion)
MetadataMap read_metadata(const YamlNode& node) {
  MetadataMap map;
  if (!node.is_map()) {
    node.error("error parsing metadata: expected a map");
    return map;
  }
  for (const YamlEntry& entry : node.entries()) {
    map.emplace_back(std::string(entry.key.raw()), read_value(entry.value));
  }
  return map;
}

EnvoyFields::EnvoyFields(const YamlNode& map, EnvoyMap kind) : YamlFields(map) {
  for (const YamlEntry& entry : map.entries()) {
    if (!knows(entry.key, kind)) continue;
    if (!is_acceptable(entry)) {
      invalid_keys_.push_back(entry.key.raw());
    } else if (!entry.value.is_nothing()) {
      keep(entry);
    }
  }
}

bool EnvoyFields::is_invalid(std::string_view key) const {
  return std::ranges::find(invalid_keys_, key) != invalid_keys_.end();
}

std::optional<std::string> EnvoyFields::text(std::string_view key) const {
  const std::optional<YamlNode> node = find(key);
  if (!node) return std::nullopt;
  if (node->is_text()) return std::string(node->raw());
  node->expected("a text");
  return std::nullopt;
}

bool EnvoyFields::flag(std::string_view key) const {
  const std::optional<YamlNode> node = find(key);
  if (!node) return false;
  if (node->is_text() && !node->is_quoted()) {
    if (const std::optional<bool> truth = envoy_boolean(node->raw())) return *truth;
  }
  node->expected("true or false");
  return false;
}

std::optional<std::uint32_t> EnvoyFields::number(std::string_view key) const {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::optional<YamlNode> node = find(key);
  if (!node) return std::nullopt;
  if (node->is_text() && !node->is_quoted()) {
    const std::optional<std::int64_t> value = envoy_integer(node->raw());
    if (value && *value >= 0 && *value <= kMost) return static_cast<std::uint32_t>(*value);
  }
  node->expected("a whole number from 0 to " + std::to_string(kMost));
  return std::nullopt;
}

std::vector<YamlNode> EnvoyFields::maps(std::string_view key) const {
  const std::optional<YamlNode> node = find(key);
  if (!node) return {};
  std::vector<YamlNode> nodes = node->list();
  std::erase_if(nodes, [](const YamlNode& element) { return !element.is_map(); });
  return nodes;
}

}  // namespace penstock::rules
