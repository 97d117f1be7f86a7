#pragma once

#include "rules/settings/option.hpp"
#include "rules/settings/section_options.hpp"
#include "rules/settings/value_readers.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

// Rows that several sections have.
namespace penstock::rules {

inline constexpr std::int64_t kMaxConnections = 10'000'000;

template <class Section>
Option<Section> listen(std::vector<Address> Section::*member, std::string_view help) {
  Option<Section> option = row("listen", member, help);
  option.restart_reason = "ports are bound at startup";
  option.sample = "127.0.0.1:1";
  option.read = [member](const OptionValue& value, Section& section) {
    section.*member = read_addresses(value.node);
  };
  return option;
}

// For new connections.
template <class Section>
Option<Section> tls(std::optional<TlsFiles> Section::*member, std::string_view help) {
  Option<Section> option = row("tls", member, help);
  option.default_text = "no TLS";
  option.sample = "{certificate: a.pem, key: a.key}";
  option.read = [member](const OptionValue& value, Section& section) {
    TlsFiles files;
    static_cast<void>(read_section(value.node, tls_options(), files, value.state));
    section.*member = std::move(files);
  };
  return option;
}

// Secrets, any of which is valid: one or a list.
template <class Section>
Option<Section> secrets(std::string_view key, std::vector<std::string> Section::*member,
                        std::string_view help) {
  Option<Section> option = row(key, member, help);
  option.default_text = "none";
  option.sample = "secret";
  option.read = [member](const OptionValue& value, Section& section) {
    section.*member = read_secrets(value.node);
  };
  return option;
}

// The same from a file, one per line.
template <class Section>
Option<Section> secrets_file(std::string_view key, std::string_view direct,
                             std::vector<std::string> Section::*member, std::string_view help) {
  Option<Section> option{.key = key, .help = help, .default_text = "none"};
  option.read = [direct, member](const OptionValue& value, Section& section) {
    if (const auto text = read_secret_file(value, direct)) section.*member = secrets_of(*text);
  };
  return option;
}

}  // namespace penstock::rules
