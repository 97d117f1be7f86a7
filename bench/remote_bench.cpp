#include "bench/remote_bench.hpp"

#include "bench/admissions.hpp"
#include "bench/key_text.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace penstock::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// Keys per call while every key is checked once.
constexpr std::size_t kFillBatch = 256;

// One thread's part of a round.
struct RemoteSlice {
  std::vector<std::uint32_t> keys;
  std::vector<Answer> answers{};
  std::vector<nanoseconds> samples{};
  std::optional<Error> failure{};
};

void check(RemoteContender& contender, RemoteSlice& slice, std::size_t batch) {
  slice.answers.assign(slice.keys.size(), Answer::Failed);
  slice.samples.clear();
  slice.samples.reserve(slice.keys.size() / batch + 1);
  std::vector<KeyText> texts(batch);
  std::vector<std::string_view> keys(batch);
  for (std::size_t done = 0; done < slice.keys.size(); done += batch) {
    const std::size_t count = std::min(batch, slice.keys.size() - done);
    for (std::size_t i = 0; i < count; ++i) keys[i] = texts[i].write(slice.keys[done + i]);
    const SteadyClock::time_point before = SteadyClock::now();
    std::optional<Error> failure =
        contender.check({keys.data(), count}, {slice.answers.data() + done, count});
    slice.samples.push_back(SteadyClock::now() - before);
    if (failure && !slice.failure) slice.failure = std::move(failure);
  }
}

// Runs one contender and sums up its figures.
class Runner {
 public:
  Runner(RemoteContender& contender, const RemoteBenchOptions& options,
         const RemoteContest& contest)
      : contender_(contender),
        options_(options),
        server_cpu_time_(contest.server_cpu),
        admissions_(options.keys),
        started_(SteadyClock::now()) {}

  Result<void> fill() {
    RemoteSlice slice;
    slice.keys.resize(options_.keys);
    for (std::uint32_t key = 0; key < options_.keys; ++key) slice.keys[key] = key;
    check(contender_, slice, kFillBatch);
    if (slice.failure) return *slice.failure;
    for (std::uint32_t key = 0; key < options_.keys; ++key) {
      if (slice.answers[key] == Answer::Admitted) admissions_.count(key);
    }
    return {};
  }

  Result<void> run(std::vector<RemoteSlice>& slices) {
    const Result<std::chrono::microseconds> server_before = server_cpu_time_();
    if (!server_before) return server_before.error();
    const std::uint64_t trips_before = contender_.round_trips();
    const nanoseconds cpu_before = process_cpu_time();
    wall_ += run_together(slices.size(),
                          [&](std::size_t i) { check(contender_, slices[i], options_.batch); });
    cpu_ += process_cpu_time() - cpu_before;
    figures_.round_trips += contender_.round_trips() - trips_before;
    const Result<std::chrono::microseconds> server_after = server_cpu_time_();
    if (!server_after) return server_after.error();
    server_cpu_ += *server_after - *server_before;
    for (RemoteSlice& slice : slices) count(slice);
    return {};
  }

  [[nodiscard]] RemoteFigures figures() const {
    const auto span = std::chrono::ceil<Duration>(SteadyClock::now() - started_);
    const auto in_micros = [](nanoseconds time) { return static_cast<double>(time.count()) / 1e3; };
    const auto checks = static_cast<double>(checks_);
    RemoteFigures figures = figures_;
    figures.checks_per_second = checks * 1e9 / static_cast<double>(wall_.count());
    figures.cpu_ns_per_check = static_cast<double>(cpu_.count()) / checks;
    figures.redis_cpu_us_per_check = static_cast<double>(server_cpu_.count()) / checks;
    figures.p50_us = in_micros(percentile(samples_, 0.50));
    figures.p99_us = in_micros(percentile(samples_, 0.99));
    figures.round_trips_per_check = static_cast<double>(figures.round_trips) / checks;
    if (contender_.decides()) figures.over_admitted = admissions_.beyond(options_.quota, span);
    return figures;
  }

 private:
  void count(RemoteSlice& slice) {
    checks_ += slice.keys.size();
    samples_.insert(samples_.end(), slice.samples.begin(), slice.samples.end());
    for (std::size_t i = 0; i < slice.keys.size(); ++i) {
      switch (slice.answers[i]) {
        case Answer::Denied: ++figures_.denied; break;
        case Answer::Failed: ++figures_.failed; break;
        case Answer::Admitted:
          ++figures_.admitted;
          admissions_.count(slice.keys[i]);
          break;
      }
    }
    if (slice.failure && figures_.first_failure.empty()) {
      figures_.first_failure = slice.failure->detail;
    }
    slice.failure.reset();
  }

  RemoteContender& contender_;
  const RemoteBenchOptions& options_;
  const std::function<Result<std::chrono::microseconds>()>& server_cpu_time_;
  Admissions admissions_;
  SteadyClock::time_point started_;
  nanoseconds wall_{0};
  nanoseconds cpu_{0};
  std::chrono::microseconds server_cpu_{0};
  std::uint64_t checks_ = 0;
  std::vector<nanoseconds> samples_;
  RemoteFigures figures_;
};

std::vector<RemoteSlice> draw_slices(const RemoteBenchOptions& options, unsigned round) {
  std::vector<RemoteSlice> slices;
  for (std::vector<std::uint32_t>& keys : draw_round(options, round)) {
    slices.push_back({.keys = std::move(keys)});
  }
  return slices;
}

}  // namespace

Result<RemoteBenchReport> run_remote_bench(const RemoteBenchOptions& options,
                                           const RemoteContest& contest,
                                           const std::function<void(double)>& on_progress) {
  std::vector<std::unique_ptr<Runner>> runners;
  for (RemoteContender* contender : {contest.penstock, contest.baseline}) {
    if (contender == nullptr) continue;
    runners.push_back(std::make_unique<Runner>(*contender, options, contest));
    const Result<void> filled = runners.back()->fill();
    if (!filled) return filled.error();
  }
  for (unsigned round = 0; round < kRounds; ++round) {
    on_progress(static_cast<double>(round) / kRounds);
    std::vector<RemoteSlice> slices = draw_slices(options, round);
    for (const auto& runner : runners) {
      const Result<void> ran = runner->run(slices);
      if (!ran) return ran.error();
    }
  }
  on_progress(1);
  RemoteBenchReport report{.penstock = runners.front()->figures(), .baseline = {}};
  if (runners.size() > 1) report.baseline = runners.back()->figures();
  return report;
}

}  // namespace penstock::bench
