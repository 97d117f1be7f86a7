#pragma once

#include "rules/settings/settings.hpp"
#include "rules/yaml/load_state.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Our own format: what every door has. Members stay as they are when there is no such key.
namespace penstock::rules {

[[nodiscard]] std::optional<Address> read_address(const YamlNode& node);
// `listen`: one address or a list.
void read_addresses(const YamlFields& fields, std::vector<Address>& addresses);
void read_tls(const YamlFields& fields, std::optional<TlsFiles>& tls_files);
// A secret, or the name of a file that holds it, without the line end after it.
void read_secret(const YamlFields& fields, std::string_view direct, std::string_view in_file,
                 LoadState& state, std::string& secret);
// The same for several that are valid at a time: one or a list, or one in each line of the file.
void read_secrets(const YamlFields& fields, std::string_view direct, std::string_view in_file,
                  LoadState& state, std::vector<std::string>& secrets);

}  // namespace penstock::rules
