#pragma once

#include "rules/yaml/yaml_reader.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

// What a word without quotes means to the YAML reader of envoyproxy/ratelimit, which follows
// version 1.1 of the language: 0x1F and 017 are numbers, `on` can be a truth.
namespace penstock::rules {

enum class EnvoyScalar : std::uint8_t { Text, Integer, Float, Boolean };

// REQUIRES: the node is a text.
[[nodiscard]] EnvoyScalar scalar_of(const YamlNode& node);
// Nothing when it is no integer of 64 bits.
[[nodiscard]] std::optional<std::int64_t> envoy_integer(std::string_view word);
// Also y, yes and on, where a truth is expected.
[[nodiscard]] std::optional<bool> envoy_boolean(std::string_view word);

}  // namespace penstock::rules
