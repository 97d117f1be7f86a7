#pragma once

#include "rules/envoy/envoy_scalars.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// The maps that a file of envoyproxy/ratelimit consists of.
enum class EnvoyMap : std::uint8_t { File, Descriptor, RateLimit, Replaces };

// The fields of such a map. Keys that no map has are errors, those of another map warnings, since
// envoyproxy/ratelimit reads over them. A field that was reported is not found.
class EnvoyFields {
 public:
  EnvoyFields(const YamlNode& map, EnvoyMap kind);

  // Each returns nothing when the field is absent, null or reported.
  [[nodiscard]] std::optional<YamlNode> find(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view key) const;
  // The maps of a list; other items are reported.
  [[nodiscard]] std::vector<YamlNode> maps(std::string_view key) const;
  // Whether the field was there and reported as invalid.
  [[nodiscard]] bool is_invalid(std::string_view key) const;

  [[nodiscard]] const YamlNode& map() const noexcept { return map_; }

 private:
  [[nodiscard]] static bool knows(const YamlNode& key, EnvoyMap kind);
  [[nodiscard]] static bool is_acceptable(const YamlEntry& entry);

  YamlNode map_;
  std::vector<YamlEntry> entries_;
  std::vector<std::string_view> invalid_keys_;
};

}  // namespace penstock::rules
