#include "redis/server_error.hpp"

#include "base/text.hpp"
#include "redis/hash_slot.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

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

namespace {

// Whether the text has the code: at the start, or in the middle as old servers write it.
bool has_code(std::string_view text, std::string_view code) {
  const std::size_t at = text.find(code);
  if (at == std::string_view::npos) return false;
  const bool begins = at == 0 || text[at - 1] == '-';
  const std::size_t end = at + code.size();
  return begins && (end == text.size() || text[end] == ' ');
}

// States that outlast a request.
bool is_lasting(std::string_view text) {
  constexpr std::array<std::string_view, 3> kLasting{"OOM", "MISCONF", "NOREPLICAS"};
  return std::any_of(kLasting.begin(), kLasting.end(),
                     [&](std::string_view code) { return has_code(text, code); });
}

}  // namespace

Retry retry_after(const ServerError& error, std::string_view text) {
  switch (error.kind) {
    case ErrorKind::NoScript: return Retry::WithScriptText;
    case ErrorKind::TryAgain: return Retry::Later;
    case ErrorKind::Unavailable: break;
    case ErrorKind::Moved:  // a cluster behind a single-server URL
    case ErrorKind::Ask:
    case ErrorKind::Misconfigured:
    case ErrorKind::WrongType:
    case ErrorKind::Other: return Retry::No;
  }
  if (is_lasting(text)) return Retry::No;
  return has_code(text, "READONLY") ? Retry::AfterReconnect : Retry::Later;
}

std::optional<std::chrono::microseconds> retry_pause(
    unsigned n, std::chrono::steady_clock::duration left) noexcept {
  using std::chrono::microseconds;
  constexpr std::chrono::milliseconds kFirst{2};
  constexpr unsigned kDoublings = 5;
  constexpr std::chrono::milliseconds kRoundTrip{1};  // less is too short for a reply
  if (left < 2 * kRoundTrip) return std::nullopt;
  const microseconds pause = kFirst * (1U << std::min(n > 0 ? n - 1 : 0, kDoublings));
  return std::min(pause, std::chrono::duration_cast<microseconds>(left / 2));
}

Error error_for_caller(const ServerError& error, std::string_view text) {
  std::string detail(text);
  if (error.kind == ErrorKind::Moved || error.kind == ErrorKind::Ask) {
    detail += " (is it a cluster?)";
  }
  if (was_not_executed(error.kind)) return {ErrorCode::Unavailable, std::move(detail)};
  const bool is_misconfigured = error.kind == ErrorKind::Misconfigured;
  return {is_misconfigured ? ErrorCode::Misconfigured : ErrorCode::Protocol, std::move(detail)};
}

}  // namespace penstock::redis
