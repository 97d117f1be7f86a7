#include "conformance/concurrency/processes.hpp"

#include "servers/file_descriptor.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace penstock::conformance {
namespace {

using servers::FileDescriptor;

struct Child {
  pid_t pid = 0;
  FileDescriptor sums{};
};

std::vector<std::uint64_t> sums_of_process(const RedisOptions& options, std::size_t numbers,
                                           const Work& work, std::size_t process) {
  SharedLimiter limiter = SharedLimiter::open(options).value();
  std::vector<std::uint64_t> sums(numbers);
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<std::uint32_t> admitted(numbers);
      std::exception_ptr mine;
      try {
        work(limiter, {.process = process, .thread = thread}, admitted);
      } catch (const std::exception&) {
        mine = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < numbers; ++i) sums[i] += admitted[i];
      if (mine != nullptr) failure = mine;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return sums;
}

void write_all(const FileDescriptor& to, const std::vector<std::uint64_t>& numbers) {
  std::vector<char> bytes(numbers.size() * sizeof(std::uint64_t));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t more = ::write(to.number(), bytes.data() + written, bytes.size() - written);
    if (more <= 0) throw std::system_error(errno, std::generic_category(), "write");
    written += static_cast<std::size_t>(more);
  }
}

std::vector<std::uint64_t> read_all(const FileDescriptor& from, std::size_t numbers) {
  std::vector<char> bytes(numbers * sizeof(std::uint64_t));
  std::size_t read = 0;
  while (read < bytes.size()) {
    const ssize_t more = ::read(from.number(), bytes.data() + read, bytes.size() - read);
    if (more <= 0) throw std::runtime_error("a process ended before it was done");
    read += static_cast<std::size_t>(more);
  }
  std::vector<std::uint64_t> sums(numbers);
  std::memcpy(sums.data(), bytes.data(), bytes.size());
  return sums;
}

// The child never returns: it must not run this process's cleanup.
Child start_process(const RedisOptions& options, std::size_t numbers, const Work& work,
                    std::size_t process) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  FileDescriptor reader(ends[0]);
  const FileDescriptor writer(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid > 0) return {.pid = pid, .sums = std::move(reader)};
  int status = 0;
  try {
    write_all(writer, sums_of_process(options, numbers, work, process));
  } catch (const std::exception& failure) {
    std::cerr << "process " << process << ": " << failure.what() << std::endl;
    status = 1;
  }
  ::_exit(status);
}

}  // namespace

Decision must(const Result<Decision>& decision) {
  if (!decision) throw std::runtime_error(decision.error().detail);
  return *decision;
}

std::vector<std::uint64_t> run_in_processes(const RedisOptions& options, std::size_t numbers,
                                            const Work& work) {
  std::vector<Child> children;
  for (std::size_t process = 0; process < kProcesses; ++process) {
    children.push_back(start_process(options, numbers, work, process));
  }
  std::vector<std::uint64_t> sums(numbers);
  std::exception_ptr failure;
  for (const Child& child : children) {
    try {
      const std::vector<std::uint64_t> more = read_all(child.sums, numbers);
      for (std::size_t i = 0; i < numbers; ++i) sums[i] += more[i];
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    int status = 0;
    ::waitpid(child.pid, &status, 0);
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return sums;
}

}  // namespace penstock::conformance
