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

// The same load on remote stores: every call is timed, and calls can fail.
namespace penstock::bench {

enum class Answer : std::uint8_t { Denied, Admitted, Failed };

// A remote store. Thread-safe.
class RemoteContender {
 public:
  RemoteContender() = default;
  RemoteContender(const RemoteContender&) = delete;
  RemoteContender& operator=(const RemoteContender&) = delete;
  virtual ~RemoteContender() = default;

  // Checks all keys in one batch. Returns the first failure.
  // REQUIRES: answers is as long as keys.
  virtual std::optional<Error> check(std::span<const std::string_view> keys,
                                     std::span<Answer> answers) = 0;
  // Commands sent so far.
  [[nodiscard]] virtual std::uint64_t round_trips() = 0;
  // False for a baseline that allows everything.
  [[nodiscard]] virtual bool decides() const { return true; }
};

struct RemoteBenchOptions : Load {
  static constexpr Quota kUsualQuota = per_day(1000);  // as StoreBenchOptions has it

  Quota quota = kUsualQuota;
  unsigned batch = 1;
};

// Figures of one contender.
struct RemoteFigures {
  double checks_per_second = 0;       // wall time, load generator included
  double cpu_ns_per_check = 0;        // of this process, load generator included
  double redis_cpu_us_per_check = 0;  // of all servers
  double p50_us = 0;                  // of all calls
  double p99_us = 0;
  std::uint64_t round_trips = 0;
  double round_trips_per_check = 0;
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t failed = 0;
  std::string first_failure{};
  std::optional<std::uint64_t> over_admitted{};  // empty if the contender does not decide
};

struct RemoteBenchReport {
  RemoteFigures penstock;
  std::optional<RemoteFigures> baseline;
};

// The contenders.
struct RemoteContest {
  RemoteContender* penstock = nullptr;
  RemoteContender* baseline = nullptr;  // optional
  // Processor time of all servers so far.
  std::function<Result<std::chrono::microseconds>()> server_cpu{};
};

// Checks every key once, then runs the checks in several rounds; contenders alternate. Fails if the
// first calls fail; later failures are counted.
[[nodiscard]] Result<RemoteBenchReport> run_remote_bench(
    const RemoteBenchOptions& options, const RemoteContest& contest,
    const std::function<void(double)>& on_progress);

}  // namespace penstock::bench
