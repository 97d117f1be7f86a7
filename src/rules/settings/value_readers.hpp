#pragma once

#include "rules/settings/option.hpp"
#include "rules/settings/settings.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Values that several sections have.
namespace penstock::rules {

[[nodiscard]] std::optional<Address> read_address(const YamlNode& node);
// One address or a list.
[[nodiscard]] std::vector<Address> read_addresses(const YamlNode& node);
// Secrets that are valid at a time: one or a list.
[[nodiscard]] std::vector<std::string> read_secrets(const YamlNode& node);
// The content of a file that holds a secret, without the line end after it. The secret must not
// also be given under the key `direct`. Empty after an error.
[[nodiscard]] std::optional<std::string> read_secret_file(const OptionValue& value,
                                                          std::string_view direct);
// One secret per line.
[[nodiscard]] std::vector<std::string> secrets_of(const std::string& text);

// One kind of rate limit headers, or a list.
[[nodiscard]] std::vector<HeaderDraft> read_headers(const YamlNode& node);

// `option`, the name of `case`, when these settings show paths to rules in lower case; else empty.
[[nodiscard]] std::string_view folding(const PathSettings& paths, std::string_view option);

}  // namespace penstock::rules
