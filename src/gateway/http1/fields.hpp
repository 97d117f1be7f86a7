#pragma once

#include "base/text.hpp"
#include "http/message.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Header fields: their texts (RFC 9110, section 5.6), and which of them a proxy forwards.
namespace penstock::gateway {

using base::equals_ignoring_case;
using base::lower;
using base::lower_case;

// Control characters except tab, which is allowed in values.
[[nodiscard]] constexpr bool is_control(char letter) noexcept {
  const auto code = static_cast<unsigned char>(letter);
  return (code < 0x20 && letter != '\t') || code == 0x7F;
}

// Compares field names. REQUIRES: `lower_case` is in lower case.
[[nodiscard]] constexpr bool equals_lower_case(std::string_view text,
                                               std::string_view lower_case) noexcept {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

// Whether this is a token, as methods and field names are.
[[nodiscard]] bool is_token(std::string_view text) noexcept;
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

// Calls `visit` with each non-empty item of a comma-separated list.
template <class Visit>
void for_each_item(std::string_view list, const Visit& visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    if (!item.empty()) visit(item);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

// Appends a line of a head.
inline void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

using http::Field;

// The hop-by-hop fields of a message, which are not forwarded (RFC 9110, section 7.6.1): a fixed
// list, and the fields that Connection names.
class HopByHop {
 public:
  // REQUIRES: the texts of the fields outlive it.
  explicit HopByHop(std::span<const Field> fields);

  // Trailer is not hop-by-hop: it is forwarded with the trailers.
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  // Whether Connection contains this word, given in lower case: "close", "upgrade".
  [[nodiscard]] bool names(std::string_view word) const noexcept;
  // Whether Connection names a required field, or too many fields.
  [[nodiscard]] bool names_required_field() const noexcept;

 private:
  std::vector<std::string_view> named_;
};

// Fields that describe the client: always written by the gateway. Names with underscores match too,
// because many servers treat them as equal.
[[nodiscard]] bool is_origin_field(std::string_view name) noexcept;

// Fields that make some frameworks use another path, host or method than the request line
// ("X-Original-URL", "X-Rewrite-URL"), and Proxy, which CGI programs use as a proxy setting. Rules
// would check a different request, so only a trusted proxy may send them.
[[nodiscard]] bool overrides_target(std::string_view name) noexcept;

// Fields that are not allowed as trailers: framing, routing and authentication. A recipient that
// merges trailers into the head would be deceived.
[[nodiscard]] bool is_forbidden_trailer(std::string_view name) noexcept;

}  // namespace penstock::gateway
