#include "redis/server_error.hpp"

#include "base/text.hpp"
#include "redis/hash_slot.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace penstock::redis {
namespace {

struct Code {
  std::string_view word;
  ErrorKind kind;
};

constexpr std::array kCodes{
    Code{"TRYAGAIN", ErrorKind::TryAgain},       Code{"NOSCRIPT", ErrorKind::NoScript},
    Code{"CLUSTERDOWN", ErrorKind::Unavailable}, Code{"LOADING", ErrorKind::Unavailable},
    Code{"READONLY", ErrorKind::Unavailable},    Code{"MISCONF", ErrorKind::Unavailable},
    Code{"OOM", ErrorKind::Unavailable},         Code{"NOREPLICAS", ErrorKind::Unavailable},
    Code{"MASTERDOWN", ErrorKind::Unavailable},  Code{"BUSY", ErrorKind::Unavailable},
    Code{"NOAUTH", ErrorKind::Misconfigured},    Code{"WRONGPASS", ErrorKind::Misconfigured},
    Code{"NOPERM", ErrorKind::Misconfigured},    Code{"WRONGTYPE", ErrorKind::WrongType},
};

// "3999 127.0.0.1:6381", "3999 :6381", "3999 [::1]:6381" or, unbracketed, "3999 ::1:6381".
ServerError read_redirect(ErrorKind kind, std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::size_t colon = text.rfind(':');
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) {
    return {};
  }
  const auto slot = base::parse_number<std::uint16_t>(text.substr(0, space));
  const auto port = base::parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!slot || *slot >= kHashSlots || !port) return {};
  std::string_view host = text.substr(space + 1, colon - space - 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {.kind = kind, .slot = *slot, .host = std::string(host), .port = *port};
}

}  // namespace

ServerError read_server_error(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  const std::string_view rest = space < text.size() ? text.substr(space + 1) : std::string_view{};
  if (word == "MOVED") return read_redirect(ErrorKind::Moved, rest);
  if (word == "ASK") return read_redirect(ErrorKind::Ask, rest);
  for (const Code& code : kCodes) {
    if (word == code.word) return {.kind = code.kind};
  }
  // Denied inside a script, by 7.2 and by 7.0; rejected on connect.
  for (const std::string_view pattern :
       {"ACL failure", "user executing the script can't", "max number of clients"}) {
    if (text.find(pattern) != std::string_view::npos) return {.kind = ErrorKind::Misconfigured};
  }
  // Before 7.0 the error of a command within a script is wrapped, with its code in the middle.
  if (text.find("Error running script") != std::string_view::npos) {
    for (const Code& code : kCodes) {
      if (text.find("-" + std::string(code.word) + " ") != std::string_view::npos) {
        return {.kind = code.kind};
      }
    }
  }
  return {};
}

}  // namespace penstock::redis
