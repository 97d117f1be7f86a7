#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/init/starter.hpp"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace penstock::app {
namespace {

constexpr const char* kInitFooter =
    "Kinds: api (limits per API key, per address and in total), login (per address and per\n"
    "account), llm (tokens per user, by reservations), gateway (a reverse proxy in front of one\n"
    "application). An existing file is never overwritten without --force.\n"
    "\n"
    "Examples:\n"
    "  penstock init\n"
    "  penstock init --kind gateway gateway.yaml\n"
    "\n"
    "Exit codes: 0 written, 2 wrong usage, or the file exists or cannot be written.";

struct InitArguments {
  std::string kind = "api";
  std::string file = "penstock.yaml";
  bool force = false;
};

// Creates the file; an existing one is replaced only with --force. The check and the creation are
// one system call, so that a file of another process is not overwritten either.
Result<void> write_file(const InitArguments& arguments, std::string_view text) {
  const auto failure = [&](const std::string& reason) {
    return Error{ErrorCode::InvalidInput, "\"" + arguments.file + "\": " + reason};
  };
  const int exclusive = arguments.force ? O_TRUNC : O_EXCL;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open(2) has no other form
  const int file = ::open(arguments.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | exclusive, 0644);
  if (file < 0) {
    if (errno == EEXIST) return failure("the file exists; --force overwrites it");
    return failure(std::generic_category().message(errno));
  }
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  const int reason = errno;
  if (::close(file) != 0 || !text.empty()) {
    return failure(std::generic_category().message(text.empty() ? errno : reason));
  }
  return {};
}

std::string kinds_text() {
  std::string text;
  for (const Starter& starter : starters()) {
    text += (text.empty() ? "" : "|") + std::string(starter.kind);
  }
  return text;
}

Result<void> run_init(const InitArguments& arguments) {
  const Starter* starter = find_starter(arguments.kind);
  if (starter == nullptr) {
    return Error{ErrorCode::InvalidInput,
                 "--kind \"" + arguments.kind + "\": expected " + kinds_text()};
  }
  const Result<void> written = write_file(arguments, starter->text);
  if (!written) return written.error();
  const bool found_by_default = arguments.file == "penstock.yaml";
  std::cout << arguments.file << " was written. Next:\n"
            << "  penstock validate " << arguments.file << '\n'
            << "  penstock serve" << (found_by_default ? "" : " --config " + arguments.file) << '\n'
            << "  " << starter->request << '\n';
  return {};
}

}  // namespace

void add_init_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<InitArguments>();
  CLI::App* command = app.add_subcommand("init", "Write a commented starter configuration");
  command->add_option("FILE", arguments->file, "The file to write")
      ->capture_default_str()
      ->type_name("FILE");
  command->add_option("--kind", arguments->kind, "Purpose of the configuration")
      ->capture_default_str()
      ->type_name(kinds_text());
  command->add_flag("--force", arguments->force, "Overwrite an existing file");
  command->footer(kInitFooter);
  on_command(*command, exit_code, [arguments] { return run_init(*arguments); });
}

}  // namespace penstock::app
