#include "bench/program/worker_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): not in <unistd.h> for all

namespace penstock::bench {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

Error failed(const std::string& what, int code) {
  return {ErrorCode::Unavailable, what + ": " + std::generic_category().message(code)};
}

// The environment with `variable`, "NAME=value", set.
std::vector<std::string> environment_with(const std::string& variable) {
  const std::string_view name(variable.data(), variable.find('=') + 1);
  std::vector<std::string> variables{variable};
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with(name)) variables.emplace_back(*each);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& arguments,
                                           const std::string& variable) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return failed("pipe", errno);
  std::vector<std::string> all{"penstock-bench"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with(variable);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  pid_t process = 0;
  const int code = posix_spawn(&process, kThisProgram, &actions, nullptr, pointers_to(all).data(),
                               pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (code != 0) {
    close(pipe_ends[0]);
    return failed("cannot start a process", code);
  }
  return WorkerProcess(process, pipe_ends[0]);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)), output_(std::exchange(other.output_, -1)) {}

WorkerProcess::~WorkerProcess() {
  if (output_ >= 0) close(output_);  // a worker that still writes gets SIGPIPE
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

Result<std::string> WorkerProcess::wait() {
  std::string printed;
  std::array<char, 65'536> part{};
  while (true) {
    const ssize_t count = read(output_, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("reading from a worker", errno);
    if (count == 0) break;
    printed.append(part.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  const pid_t ended = waitpid(std::exchange(process_, 0), &status, 0);
  if (ended < 0) return failed("waiting for a worker", errno);
  if (status != 0) {
    return Error{ErrorCode::Unavailable, "a worker ended with status " + std::to_string(status)};
  }
  return printed;
}

}  // namespace penstock::bench
