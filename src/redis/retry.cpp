#include "redis/retry.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace penstock::redis {
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
  switch (error.kind) {
    case ErrorKind::Moved:
    case ErrorKind::Ask: return {ErrorCode::Unavailable, std::string(text) + " (is it a cluster?)"};
    case ErrorKind::TryAgain:
    case ErrorKind::NoScript:
    case ErrorKind::Unavailable: return {ErrorCode::Unavailable, std::string(text)};
    case ErrorKind::Misconfigured: return {ErrorCode::Misconfigured, std::string(text)};
    case ErrorKind::WrongType:
    case ErrorKind::Other: break;
  }
  return {ErrorCode::Protocol, std::string(text)};
}

}  // namespace penstock::redis
