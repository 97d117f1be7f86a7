#pragma once

#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>

// How commands of the program talk to a daemon that runs.
namespace penstock::app {

inline constexpr const char* kServerVariable = "PENSTOCK_SERVER";
inline constexpr const char* kTokenVariable = "PENSTOCK_TOKEN";

// Which daemon, as typed.
struct DaemonArguments {
  std::string option = "--server";  // that has the URL, for errors
  std::string url{};
  std::string token{};  // must never be printed
  std::string timeout = "1s";
  std::string ca{};
  std::string certificate{};
  std::string key{};
};

// --server and --token, which may also come from the environment.
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

// One call on a connection of its own. An answer of any status is an answer; errors say what could
// not be reached, and why. The timeout is that of everything together.
[[nodiscard]] Result<DaemonAnswer> call_daemon(const DaemonArguments& daemon,
                                               const DaemonCall& call);

// What an answer that was not hoped for says: the detail of a problem.
[[nodiscard]] Error error_from(const DaemonAnswer& answer);

}  // namespace penstock::app
