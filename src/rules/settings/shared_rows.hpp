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

inline constexpr TakesEffect kReload = TakesEffect::OnReload;
inline constexpr TakesEffect kRestart = TakesEffect::OnRestart;
inline constexpr std::int64_t kMaxConnections = 10'000'000;

template <class Section>
Option<Section> listen(std::vector<Address> Section::*member, std::string_view help) {
  Option<Section> option = row("listen", member, kRestart, help);
  option.sample = "127.0.0.1:1";
  option.read = [member](const OptionValue& value, Section& section) {
    section.*member = read_addresses(value.node);
  };
  return option;
}

// New files are used for new connections. To turn TLS on or off takes a restart.
template <class Section>
Option<Section> tls(std::optional<TlsFiles> Section::*member, std::string_view help) {
  Option<Section> option{
      .key = "tls", .help = help, .takes_effect = kRestart, .default_text = "no TLS"};
  option.sample = "{certificate: a.pem, key: a.key}";
  option.read = [member](const OptionValue& value, Section& section) {
    TlsFiles files;
    static_cast<void>(read_section(value.node, tls_options(), files, value.state));
    section.*member = std::move(files);
  };
  option.equal = [member](const Section& a, const Section& b) {
    return (a.*member).has_value() == (b.*member).has_value();
  };
  option.copy = [member](const Section& from, Section& to) { to.*member = from.*member; };
  for (const Option<TlsFiles>& file : tls_options()) {
    Option<Section> part{.key = file.key, .help = file.help};
    part.equal = [member, equal = file.equal](const Section& a, const Section& b) {
      return !(a.*member) || !(b.*member) || equal(*(a.*member), *(b.*member));
    };
    part.copy = [member, copy = file.copy](const Section& from, Section& to) {
      if (from.*member && to.*member) copy(*(from.*member), *(to.*member));
    };
    option.parts.push_back(std::move(part));
  }
  return option;
}

// Secrets, any of which is valid: one or a list.
template <class Section>
Option<Section> secrets(std::string_view key, std::vector<std::string> Section::*member,
                        std::string_view help) {
  Option<Section> option = row(key, member, kReload, help);
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
