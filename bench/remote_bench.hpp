#pragma once

#include "bench/load.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// The same load on stores that are elsewhere: slow enough that every call is timed, and able to
// fail.
namespace penstock::bench {

enum class Answer : std::uint8_t { Denied, Admitted, Failed };

// Somebody who answers from elsewhere. Thread-safety: all members, from any thread.
class RemoteContender {
 public:
  RemoteContender() = default;
  RemoteContender(const RemoteContender&) = delete;
  RemoteContender& operator=(const RemoteContender&) = delete;
  virtual ~RemoteContender() = default;

  // Asks about all of these keys at once, and waits. Returns the first failure, if there was one.
  // REQUIRES: answers is as long as keys.
  virtual std::optional<Error> check(std::span<const std::string_view> keys,
                                     std::span<Answer> answers) = 0;
  // Commands sent so far.
  [[nodiscard]] virtual std::uint64_t round_trips() = 0;
  // False for one that lets everything pass.
  [[nodiscard]] virtual bool decides() const { return true; }
};

struct RemoteBenchOptions : Load {
  static constexpr Quota kUsualQuota = per_day(1000);  // as StoreBenchOptions has it

  Quota quota = kUsualQuota;
  unsigned batch = 1;
};

// What one contender did.
struct RemoteFigures {
  double checks_per_second = 0;       // by wall time, load generator included
  double cpu_ns_per_check = 0;        // of this whole process, load generator included
  double redis_cpu_us_per_check = 0;  // of all servers
  double p50_us = 0;                  // of all calls
  double p99_us = 0;
  std::uint64_t round_trips = 0;
  double round_trips_per_check = 0;
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t failed = 0;
  std::string first_failure{};
  std::optional<std::uint64_t> over_admitted{};  // empty for one that does not decide
};

struct RemoteBenchReport {
  RemoteFigures penstock;
  std::optional<RemoteFigures> baseline;
};

// Who takes part.
struct RemoteContest {
  RemoteContender* penstock = nullptr;
  RemoteContender* baseline = nullptr;  // may be missing
  // Processor time that the servers have used so far.
  std::function<Result<std::chrono::microseconds>()> server_cpu{};
};

// Asks for every key once, then the given number of checks in several rounds, the contenders taking
// turns. Fails when the first questions cannot be asked; later failures are counted.
[[nodiscard]] Result<RemoteBenchReport> run_remote_bench(
    const RemoteBenchOptions& options, const RemoteContest& contest,
    const std::function<void(double)>& on_progress);

}  // namespace penstock::bench
