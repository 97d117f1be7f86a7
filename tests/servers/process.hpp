#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::servers {

// Another program. It is killed by the destructor, and by the kernel when this process ends in
// whatever way. It inherits no open files, reads nothing and writes to its log.
//
// Thread-safety: none but for pid() and cpu_time(). The program outlives the thread that started
// it.
class Process {
 public:
  // Runs what the PATH has under arguments.at(0); its output is appended to `log`.
  Process(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void pause();  // SIGSTOP; on return it has stopped
  void resume();
  // SIGKILL. On return the process is gone, with its sockets.
  void kill();
  [[nodiscard]] bool has_ended();
  // As waitpid() has it. REQUIRES: has_ended().
  [[nodiscard]] int status() const { return status_.value(); }
  // User and system time so far, in steps of 10 ms.
  [[nodiscard]] std::chrono::milliseconds cpu_time() const;

 private:
  void wait_for_change(int options);

  pid_t pid_;
  std::optional<int> status_{};
};

[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name);

// Waits for the end; throws std::runtime_error with the log when that is not a good one.
void run_program(const std::vector<std::string>& arguments, const std::filesystem::path& log);

}  // namespace penstock::servers
