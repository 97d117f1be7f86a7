#include "rules/model/limit_keys.hpp"

#include "base/ip_address.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace penstock::rules {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

// The position of a text decides which characters are escaped in addition to % and control
// characters.
enum class KeyPartKind : std::uint8_t { Subject = 1, Domain = 2, Rule = 4 };

// For each character, the positions in which it is escaped.
constexpr std::array<std::uint8_t, 256> kEscapedIn = [] {
  constexpr std::uint8_t kEverywhere = 7;
  std::array<std::uint8_t, 256> places{};
  for (std::size_t c = 0; c < 0x20; ++c) places[c] = kEverywhere;
  places[0x7f] = kEverywhere;
  places['%'] = kEverywhere;
  for (const char c : {'&', '='}) places[static_cast<unsigned char>(c)] |= 1U;
  places['/'] |= 2U | 4U;
  places['#'] |= 4U;
  return places;
}();

bool is_plain(std::string_view value, KeyPartKind place) {
  unsigned escaped_in = 0;
  for (const char c : value) escaped_in |= kEscapedIn[static_cast<unsigned char>(c)];
  return (escaped_in & static_cast<unsigned>(place)) == 0;
}

void append_escaped(std::string& text, std::string_view value, KeyPartKind place) {
  if (is_plain(value, place)) {  // the common case
    text.append(value);
    return;
  }
  std::size_t done = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto byte = static_cast<unsigned char>(value[i]);
    if ((kEscapedIn[byte] & static_cast<std::uint8_t>(place)) == 0) continue;
    text.append(value, done, i - done);
    text += '%';
    text += kHex[byte >> 4U];
    text += kHex[byte & 0xfU];
    done = i + 1;
  }
  text.append(value, done);
}

// A % that does not start a %XX is literal: subjects are also written by hand.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const char* const end = text.data() + i + 3;
      const auto [stop, failure] = std::from_chars(text.data() + i + 1, end, byte, 16);
      if (failure == std::errc{} && stop == end) {
        plain += static_cast<char>(byte);
        i += 2;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

}  // namespace

void append_subject(std::string& subject, std::string_view name, std::string_view value) {
  if (!subject.empty()) subject += '&';
  append_escaped(subject, name, KeyPartKind::Subject);
  subject += '=';
  append_escaped(subject, value, KeyPartKind::Subject);
}

void append_escaped_value(std::string& subject, std::string_view value) {
  append_escaped(subject, value, KeyPartKind::Subject);
}

std::string limit_name(std::string_view domain, std::string_view rule, std::string_view limit) {
  std::string name;
  append_escaped(name, domain, KeyPartKind::Domain);
  name += '/';
  append_escaped(name, rule, KeyPartKind::Rule);
  if (limit.empty()) return name;
  name += '/';
  append_escaped(name, limit, KeyPartKind::Domain);
  return name;
}

std::string request_limit_name(std::string_view domain, const Quota& quota) {
  std::string name;
  append_escaped(name, domain, KeyPartKind::Domain);
  const auto period = std::chrono::ceil<std::chrono::milliseconds>(quota.period());
  return name + "/#" + std::to_string(period.count()) + "ms";
}

std::optional<SubjectParts> parse_subject(std::string_view subject) {
  SubjectParts parts;
  while (!subject.empty()) {
    const std::string_view part = subject.substr(0, subject.find('&'));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    parts.emplace_back(unescape(part.substr(0, equals)), unescape(part.substr(equals + 1)));
    if (part.size() == subject.size()) return parts;
    subject.remove_prefix(part.size() + 1);
    if (subject.empty()) return std::nullopt;
  }
  return parts;
}

std::string key_value(const KeyPart& part, std::string_view value) {
  if (!part.ipv6_prefix || !part.ipv4_prefix) return std::string(value);
  const auto address = base::IpAddress::parse(value);
  if (!address) return std::string(value);
  std::string text;
  address->network(address->is_v4() ? *part.ipv4_prefix : *part.ipv6_prefix).append_to(text);
  return text;
}

}  // namespace penstock::rules
