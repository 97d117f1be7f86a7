#pragma once

#include "penstock/result.hpp"

#include <string>
#include <string_view>

namespace penstock::app {

// Where a daemon listens.
struct DaemonAddress {
  bool tls = false;
  std::string host;  // an IPv6 address without its brackets
  std::string port;

  // The value of the Host header.
  [[nodiscard]] std::string authority() const;
  [[nodiscard]] bool is_ipv6() const { return host.find(':') != std::string::npos; }
};

// Reads http://HOST[:PORT] or https://HOST[:PORT]; the error names the option. What may hold a
// password is rejected, and not repeated in the error.
[[nodiscard]] Result<DaemonAddress> parse_daemon_url(std::string_view option, std::string_view url);

// Percent-encodes a path segment or a query value.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace penstock::app
