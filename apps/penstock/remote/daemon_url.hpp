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

  // As the field Host has it.
  [[nodiscard]] std::string authority() const;
  [[nodiscard]] bool is_ipv6() const { return host.find(':') != std::string::npos; }
};

// Reads http://HOST[:PORT] or https://HOST[:PORT]; the error names the option. What may hold a
// password is refused, and not repeated.
[[nodiscard]] Result<DaemonAddress> parse_daemon_url(std::string_view option, std::string_view url);

// A text as one segment of a path or as a value of a query.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace penstock::app
