#pragma once

#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

// Calls from subcommands to a running daemon.
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

inline constexpr const char* kServerVariable = "PENSTOCK_SERVER";
inline constexpr const char* kTokenVariable = "PENSTOCK_TOKEN";

// The daemon, as given on the command line.
struct DaemonArguments {
  std::string option = "--server";  // the name of the URL option, for errors
  std::string url{};
  std::string token{};  // must never be printed
  std::string timeout = "1s";
  std::string ca{};
  std::string certificate{};
  std::string key{};
};

// Adds --server and --token, with their environment variables.
void add_daemon_options(CLI::App& command, DaemonArguments& arguments);

// For the footer of --help.
extern const char* const kDaemonHelp;

struct DaemonAnswer {
  unsigned status = 0;
  std::string body{};
};

struct DaemonCall {
  std::string method = "GET";
  std::string target{};  // path and query, percent-encoded
  std::string body{};    // JSON, or empty
};

// One call on a new connection. A response of any status is an answer; the error names the address
// and the reason. The timeout covers the whole call.
[[nodiscard]] Result<DaemonAnswer> call_daemon(const DaemonArguments& daemon,
                                               const DaemonCall& call);

// The error of an unsuccessful response: the detail of its problem document.
[[nodiscard]] Error error_from(const DaemonAnswer& answer);

}  // namespace penstock::app
