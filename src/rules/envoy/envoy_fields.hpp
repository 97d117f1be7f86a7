#pragma once

#include "rules/model/rule.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Files of envoyproxy/ratelimit, whose YAML reader follows version 1.1 of the language: without
// quotes, 0x1F and 017 are numbers, and `on` can be a boolean.
namespace penstock::rules {

enum class EnvoyScalar : std::uint8_t { Text, Integer, Float, Boolean };

// REQUIRES: the node is a text.
[[nodiscard]] EnvoyScalar scalar_of(const YamlNode& node);
// Nothing when it is no integer of 64 bits.
[[nodiscard]] std::optional<std::int64_t> envoy_integer(std::string_view word);
// Also y, yes and on, where a boolean is expected.
[[nodiscard]] std::optional<bool> envoy_boolean(std::string_view word);

// Reads `metadata` with the types of YAML 1.1: unquoted words may be numbers or booleans. Values
// that JSON cannot represent are reported.
[[nodiscard]] MetadataMap read_metadata(const YamlNode& node);

// The maps that a file of envoyproxy/ratelimit consists of.
enum class EnvoyMap : std::uint8_t { File, Descriptor, RateLimit, Replaces };

// The fields of such a map. Keys that no map has are errors, those of another map warnings, since
// envoyproxy/ratelimit ignores them. Fields that are null or were reported are not found.
class EnvoyFields : public YamlFields {
 public:
  EnvoyFields(const YamlNode& map, EnvoyMap kind);

  // Each returns nothing when the field is absent, null or reported.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view key) const;
  // The maps of a list; other items are reported.
  [[nodiscard]] std::vector<YamlNode> maps(std::string_view key) const;
  // Whether the field was there and reported as invalid.
  [[nodiscard]] bool is_invalid(std::string_view key) const;

 private:
  std::vector<std::string_view> invalid_keys_;
};

}  // namespace penstock::rules
