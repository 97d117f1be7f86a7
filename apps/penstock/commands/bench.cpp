#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace penstock::app {
namespace {

constexpr const char* kLoadGenerator = "penstock-bench";

std::vector<char*> argument_pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Replaces this process. Returns only if the load generator cannot be started.
Result<int> run_load_generator(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kLoadGenerator);
  const std::vector<char*> pointers = argument_pointers(arguments);
  std::error_code failure;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failure).parent_path();
  if (!failure) execv((folder / kLoadGenerator).c_str(), pointers.data());
  if (failure || errno == ENOENT) execvp(kLoadGenerator, pointers.data());
  if (errno == ENOENT) {
    return Error{ErrorCode::Unavailable, std::string(kLoadGenerator) +
                                             " is not installed: it is neither in " +
                                             folder.string() + " nor in PATH"};
  }
  return Error{ErrorCode::Unavailable, "cannot start " + std::string(kLoadGenerator) + ": " +
                                           std::generic_category().message(errno)};
}

// All arguments, --help included, go to the load generator.
void add_front(CLI::App& app, int& exit_code, const char* name, const char* description,
               std::vector<std::string> first) {
  CLI::App* command = app.add_subcommand(name, description);
  command->set_help_flag();
  command->prefix_command();
  on_command(*command, exit_code, [command, first = std::move(first)]() -> Result<int> {
    std::vector<std::string> arguments = first;
    for (std::string& argument : command->remaining()) arguments.push_back(std::move(argument));
    return run_load_generator(std::move(arguments));
  });
}

}  // namespace

void add_bench_commands(CLI::App& app, int& exit_code) {
  add_front(app, exit_code, "verify", "Verify that a shared store admits exactly what it should",
            {"verify"});
  add_front(app, exit_code, "bench", "Measure the speed of decisions, and that all are right", {});
}

}  // namespace penstock::app
