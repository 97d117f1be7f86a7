#include "apps/penstock/remote/daemon_url.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace penstock::app {
namespace {

constexpr std::string_view kHttpPort = "80";
constexpr std::string_view kHttpsPort = "443";

bool is_port(std::string_view text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc{} && stop == end && number >= 1 && number <= 65'535;
}

// "name", "name:80", "[::1]" or "[::1]:80": host and port, the latter perhaps empty.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view authority) {
  std::string_view host = authority;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    rest = authority.substr(colon);
  }
  if (host.empty()) return std::nullopt;
  if (rest.empty()) return std::pair{host, rest};
  if (rest.front() != ':' || !is_port(rest.substr(1))) return std::nullopt;
  return std::pair{host, rest.substr(1)};
}

}  // namespace

std::string DaemonAddress::authority() const {
  std::string text = is_ipv6() ? "[" + host + "]" : host;
  if (port != (tls ? kHttpsPort : kHttpPort)) text += ":" + port;
  return text;
}

Result<DaemonAddress> parse_daemon_url(std::string_view option, std::string_view url) {
  const std::string wanted = " must be http://HOST[:PORT] or https://HOST[:PORT]";
  if (url.find('@') != std::string_view::npos) {
    return Error{ErrorCode::InvalidInput,
                 std::string(option) + wanted + ", without user and password"};
  }
  const Error wrong{ErrorCode::InvalidInput,
                    std::string(option) + " \"" + std::string(url) + "\"" + wanted};
  const bool tls = url.starts_with("https://");
  if (!tls && !url.starts_with("http://")) return wrong;
  std::string_view authority = url.substr(url.find("//") + 2);
  if (authority.ends_with('/')) authority.remove_suffix(1);
  for (const char letter : authority) {
    if (static_cast<unsigned char>(letter) <= ' ' || letter == '/' || letter == '?' ||
        letter == '#') {
      return wrong;
    }
  }
  const auto parts = split(authority);
  if (!parts) return wrong;
  const std::string_view usual = tls ? kHttpsPort : kHttpPort;
  return DaemonAddress{.tls = tls,
                       .host = std::string(parts->first),
                       .port = std::string(parts->second.empty() ? usual : parts->second)};
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~";
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') ||
                       kPlain.find(letter) != std::string_view::npos;
    if (plain) {
      encoded += letter;
    } else {
      encoded += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return encoded;
}

}  // namespace penstock::app
