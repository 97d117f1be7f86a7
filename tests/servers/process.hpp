#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::servers {

// A child process. It is killed by the destructor, and by the kernel when this process ends. It
// inherits no open files, reads nothing and writes to its log.
//
// Thread-safety: none except pid() and cpu_time(). It outlives the thread that started it.
class Process {
 public:
  // Runs arguments.at(0) from the PATH; output is appended to `log`.
  Process(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void pause();  // SIGSTOP; on return it has stopped
  void resume();
  // SIGKILL. On return the process and its sockets no longer exist.
  void kill();
  [[nodiscard]] bool has_ended();
  // As returned by waitpid(). REQUIRES: has_ended().
  [[nodiscard]] int status() const { return status_.value(); }
  // User and system time so far, in steps of 10 ms.
  [[nodiscard]] std::chrono::milliseconds cpu_time() const;

 private:
  void wait_for_change(int options);

  pid_t pid_;
  std::optional<int> status_{};
};

[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name);

// Waits for the end; throws std::runtime_error with the log on a non-zero status.
void run_program(const std::vector<std::string>& arguments, const std::filesystem::path& log);

}  // namespace penstock::servers
