#pragma once

#include "penstock/result.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace penstock::bench {

// This program once more, as a process of its own, with other arguments and one more environment
// variable: for what must not stand on a command line.
class WorkerProcess {
 public:
  [[nodiscard]] static Result<WorkerProcess> start(const std::vector<std::string>& arguments,
                                                   const std::string& variable);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  // What it printed, when it has ended well; its standard error is ours.
  [[nodiscard]] Result<std::string> wait();

 private:
  WorkerProcess(pid_t process, int output) : process_(process), output_(output) {}

  pid_t process_;
  int output_;  // a pipe that it writes to
};

}  // namespace penstock::bench
