#include "rules/yaml/metadata_format.hpp"

#include "rules/envoy/envoy_scalars.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

namespace penstock::rules {
namespace {

// Empty for infinities and NaN.
std::optional<double> finite_number(std::string_view word) {
  std::string plain(word);
  std::erase(plain, '_');
  if (plain.starts_with('+')) plain.erase(0, 1);
  double value = 0;
  const char* const end = plain.data() + plain.size();
  const auto [stop, failure] = std::from_chars(plain.data(), end, value);
  if (failure != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
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

}  // namespace

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

}  // namespace penstock::rules
