#pragma once

#include "penstock/result.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace penstock::bench {

// This program as a child process, with other arguments and one more environment variable (for
// passwords, which must not be on a command line).
class WorkerProcess {
 public:
  [[nodiscard]] static Result<WorkerProcess> start(const std::vector<std::string>& arguments,
                                                   const std::string& variable);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  // Its output, after a successful exit; standard error is inherited.
  [[nodiscard]] Result<std::string> wait();

 private:
  WorkerProcess(pid_t process, int output) : process_(process), output_(output) {}

  pid_t process_;
  int output_;  // the read end of its standard output
};

}  // namespace penstock::bench
