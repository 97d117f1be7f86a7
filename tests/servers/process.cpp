#include "servers/process.hpp"

#include "servers/file_descriptor.hpp"
#include "servers/temp_directory.hpp"
#include "servers/wait.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

namespace penstock::servers {
namespace {

// PR_SET_PDEATHSIG kills a child when the thread that forked it ends, not the process. So one
// thread forks for all and lives as long as the process.
class Forker {
 public:
  static Forker& instance() {
    static Forker forker;
    return forker;
  }

  pid_t run(std::function<pid_t()> fork) {
    std::packaged_task<pid_t()> task(std::move(fork));
    std::future<pid_t> pid = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push(std::move(task));
    }
    changed_.notify_one();
    return pid.get();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
      tasks_.front()();
      tasks_.pop();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::queue<std::packaged_task<pid_t()>> tasks_;  // guarded by mutex_
  std::jthread thread_{[this](const std::stop_token& stop) { work(stop); }};
};

// The child after fork(): only system calls, since other threads may have held any lock.
[[noreturn]] void become(const char* program, char* const* arguments, int log, pid_t parent) {
  constexpr int kCannotStart = 127;  // as in shells
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(kCannotStart);  // the parent has already ended
  }
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, UINT_MAX, 0);
  ::execv(program, arguments);
  ::_exit(kCannotStart);
}

pid_t start(std::vector<std::string> arguments, const std::filesystem::path& log) {
  const std::optional<std::filesystem::path> program = find_program(arguments.at(0));
  if (!program) {
    throw std::runtime_error(arguments.at(0) + " is not installed; run: make deps");
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  const FileDescriptor output(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!output.is_open()) {
    throw std::system_error(errno, std::generic_category(), "open " + log.string());
  }
  const pid_t parent = ::getpid();
  const pid_t pid = Forker::instance().run([&] {
    const pid_t made = ::fork();
    if (made == 0) {
      become(program->c_str(), pointers.data(), output.number(), parent);
    }
    return made;
  });
  if (pid < 0) {
    throw std::runtime_error("fork failed");
  }
  return pid;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::filesystem::path& log)
    : pid_(start(arguments, log)) {}

Process::~Process() { kill(); }

void Process::pause() {
  if (!status_) {
    ::kill(pid_, SIGSTOP);
    wait_for_change(WUNTRACED);
  }
}

void Process::resume() {
  if (!status_) {
    ::kill(pid_, SIGCONT);
  }
}

void Process::kill() {
  if (!status_) {
    ::kill(pid_, SIGKILL);
    wait_for_change(0);
  }
}

void Process::wait_for_change(int options) {
  int status = 0;
  while (::waitpid(pid_, &status, options) < 0 && errno == EINTR) {
  }
  if (!WIFSTOPPED(status)) {
    status_ = status;
  }
}

bool Process::has_ended() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
  }
  return status_.has_value();
}

std::chrono::milliseconds Process::cpu_time() const {
  const std::string text = read_file("/proc/" + std::to_string(pid_) + "/stat");
  // The program name, in parentheses, may contain anything; the state is the first field after it.
  constexpr int kFieldsBetween = 11;  // from the state to utime, see proc(5)
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) {
    throw std::runtime_error("process " + std::to_string(pid_) + " has ended");
  }
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) {
    fields >> skipped;
  }
  long user = 0;
  long system = 0;
  fields >> user >> system;
  return std::chrono::milliseconds{(user + system) * 1000 / ::sysconf(_SC_CLK_TCK)};
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    return std::filesystem::path(name);
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

void run_program(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  Process process(arguments, log);
  wait_until(arguments.at(0) + " to end", [&] { return process.has_ended(); });
  if (process.status() != 0) {
    throw std::runtime_error(arguments.at(0) + " failed: " + read_file(log));
  }
}

}  // namespace penstock::servers
