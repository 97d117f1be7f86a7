#include "bench/store_bench.hpp"

#include "bench/admissions.hpp"
#include "bench/key_text.hpp"
#include "bench/measure.hpp"
#include "bench/naive_limiter.hpp"
#include "penstock/limiter.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace penstock::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// One call in this many is timed; two clock readings then cost half a nanosecond per call.
constexpr std::size_t kTimedEvery = 128;

// One thread's part of a round. Answers are counted after the measurement.
struct Slice {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint8_t> admitted;
  std::vector<nanoseconds> samples;
  nanoseconds cpu{0};
};

// Calls no store: measures the load generator itself.
class EmptyLoop {
 public:
  static void run(Slice& slice) {
    KeyText text;
    for (std::size_t i = 0; i < slice.keys.size(); ++i) {
      const std::string_view key = text.write(slice.keys[i]);
      asm volatile("" : : "r"(key.data()) : "memory");  // keeps the write of the key
      slice.admitted[i] = 1;
    }
  }
};

class SingleChecks {
 public:
  SingleChecks(Limiter& limiter, const Quota& quota) : limiter_(limiter), quota_(quota) {}

  void run(Slice& slice) {
    KeyText text;
    for (std::size_t i = 0; i < slice.keys.size(); ++i) {
      const std::string_view key = text.write(slice.keys[i]);
      if (i % kTimedEvery != 0) [[likely]] {
        slice.admitted[i] = limiter_.check(key, quota_).allowed() ? 1 : 0;
        continue;
      }
      const SteadyClock::time_point before = SteadyClock::now();
      slice.admitted[i] = limiter_.check(key, quota_).allowed() ? 1 : 0;
      slice.samples.push_back(SteadyClock::now() - before);
    }
  }

 private:
  Limiter& limiter_;
  const Quota& quota_;
};

class BatchedChecks {
 public:
  BatchedChecks(Limiter& limiter, const Quota& quota, std::size_t size)
      : limiter_(limiter),
        texts_(size),
        checks_(size, Check{.key = {}, .quota = quota}),
        decisions_(size) {}

  void run(Slice& slice) {
    std::size_t batches = 0;
    for (std::size_t done = 0; done < slice.keys.size(); done += checks_.size(), ++batches) {
      const std::size_t count = std::min(checks_.size(), slice.keys.size() - done);
      for (std::size_t i = 0; i < count; ++i) {
        checks_[i].key = texts_[i].write(slice.keys[done + i]);
      }
      const std::span<const Check> checks(checks_.data(), count);
      const std::span<Decision> decisions(decisions_.data(), count);
      const bool timed = batches % kTimedEvery == 0;
      const SteadyClock::time_point before = timed ? SteadyClock::now() : SteadyClock::time_point{};
      limiter_.check_each(checks, decisions);
      if (timed) slice.samples.push_back(SteadyClock::now() - before);
      for (std::size_t i = 0; i < count; ++i) {
        slice.admitted[done + i] = decisions[i].allowed() ? 1 : 0;
      }
    }
  }

 private:
  Limiter& limiter_;
  std::vector<KeyText> texts_;
  std::vector<Check> checks_;
  std::vector<Decision> decisions_;
};

class NaiveChecks {
 public:
  explicit NaiveChecks(NaiveLimiter& limiter) : limiter_(limiter) {}

  void run(Slice& slice) {
    KeyText text;
    for (std::size_t i = 0; i < slice.keys.size(); ++i) {
      const std::string_view key = text.write(slice.keys[i]);
      if (i % kTimedEvery != 0) [[likely]] {
        slice.admitted[i] = limiter_.check(key) ? 1 : 0;
        continue;
      }
      const SteadyClock::time_point before = SteadyClock::now();
      slice.admitted[i] = limiter_.check(key) ? 1 : 0;
      slice.samples.push_back(SteadyClock::now() - before);
    }
  }

 private:
  NaiveLimiter& limiter_;
};

// Sums of the rounds of one contender.
class Tally {
 public:
  explicit Tally(std::uint32_t keys) : admissions_(keys), started_(SteadyClock::now()) {}

  void add(const std::vector<Slice>& slices, nanoseconds wall) {
    wall_ += wall;
    for (const Slice& slice : slices) {
      cpu_ += slice.cpu;
      checks_ += slice.keys.size();
      samples_.insert(samples_.end(), slice.samples.begin(), slice.samples.end());
      for (std::size_t i = 0; i < slice.keys.size(); ++i) {
        if (slice.admitted[i] == 0) continue;
        ++admitted_;
        admissions_.count(slice.keys[i]);
      }
    }
  }

  void count_fill(std::uint32_t key) { admissions_.count(key); }

  [[nodiscard]] StoreFigures figures(const Quota& quota) const {
    const auto span = std::chrono::ceil<Duration>(SteadyClock::now() - started_);
    const auto in_micros = [](nanoseconds time) { return static_cast<double>(time.count()) / 1e3; };
    StoreFigures figures;
    figures.checks_per_second =
        static_cast<double>(checks_) * 1e9 / static_cast<double>(wall_.count());
    figures.cpu_ns_per_check = static_cast<double>(cpu_.count()) / static_cast<double>(checks_);
    figures.p50_us = in_micros(percentile(samples_, 0.50));
    figures.p99_us = in_micros(percentile(samples_, 0.99));
    figures.admitted = admitted_;
    figures.denied = checks_ - admitted_;
    figures.over_admitted = admissions_.beyond(quota, span);
    return figures;
  }

  [[nodiscard]] double cpu_ns_per_check() const {
    return static_cast<double>(cpu_.count()) / static_cast<double>(checks_);
  }

 private:
  Admissions admissions_;
  SteadyClock::time_point started_;
  nanoseconds wall_{0};
  nanoseconds cpu_{0};
  std::uint64_t checks_ = 0;
  std::uint64_t admitted_ = 0;
  std::vector<nanoseconds> samples_;
};

std::vector<Slice> draw_slices(const StoreBenchOptions& options, unsigned round) {
  std::vector<Slice> slices(options.threads);
  std::vector<std::vector<std::uint32_t>> keys = draw_round(options, round);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    slices[i].keys = std::move(keys[i]);
    slices[i].admitted.resize(slices[i].keys.size());
    slices[i].samples.reserve(slices[i].keys.size() / kTimedEvery + 1);
  }
  return slices;
}

// Runs every slice on its own thread. Returns the wall time of the slowest.
template <class MakeRunner>
nanoseconds run_slices(std::vector<Slice>& slices, const MakeRunner& make_runner) {
  std::vector<decltype(make_runner())> runners;
  for (std::size_t i = 0; i < slices.size(); ++i) runners.push_back(make_runner());
  return run_together(slices.size(), [&](std::size_t i) {
    const nanoseconds cpu_start = thread_cpu_time();
    runners[i].run(slices[i]);
    slices[i].cpu = thread_cpu_time() - cpu_start;
  });
}

struct Penstock {
  explicit Penstock(const StoreBenchOptions& options)
      : limiter(MemoryOptions{.max_keys = options.keys}), tally(options.keys) {}

  Limiter limiter;
  Tally tally;
  double resident_bytes_per_key = 0;
};

struct Naive {
  explicit Naive(const StoreBenchOptions& options) : limiter(options.quota), tally(options.keys) {}

  NaiveLimiter limiter;
  Tally tally;
  double resident_bytes_per_key = 0;
};

// Checks every key once. Returns the growth of the process per key.
template <class Contender, class Check>
void fill(Contender& contender, const StoreBenchOptions& options, const Check& check) {
  const std::uint64_t before = resident_bytes();
  KeyText text;
  for (std::uint32_t key = 0; key < options.keys; ++key) {
    if (check(text.write(key))) contender.tally.count_fill(key);
  }
  const std::uint64_t after = resident_bytes();
  contender.resident_bytes_per_key =
      static_cast<double>(after - std::min(before, after)) / options.keys;
}

void run_penstock(Penstock& penstock, std::vector<Slice>& slices,
                  const StoreBenchOptions& options) {
  const nanoseconds wall =
      options.batch > 1
          ? run_slices(
                slices,
                [&] { return BatchedChecks(penstock.limiter, options.quota, options.batch); })
          : run_slices(slices, [&] { return SingleChecks(penstock.limiter, options.quota); });
  penstock.tally.add(slices, wall);
}

void clear_answers(std::vector<Slice>& slices) {
  for (Slice& slice : slices) slice.samples.clear();
}

}  // namespace

StoreBenchReport run_store_bench(const StoreBenchOptions& options, Baseline baseline,
                                 const std::function<void(double)>& on_progress) {
  StoreBenchReport report;
  Tally generator(options.keys);
  Penstock penstock(options);
  fill(penstock, options,
       [&](std::string_view key) { return penstock.limiter.check(key, options.quota).allowed(); });
  const MemoryStats filled = penstock.limiter.stats();
  std::unique_ptr<Naive> naive;
  if (baseline == Baseline::Naive) {
    naive = std::make_unique<Naive>(options);
    fill(*naive, options, [&](std::string_view key) { return naive->limiter.check(key); });
  }
  for (unsigned round = 0; round < kRounds; ++round) {
    on_progress(static_cast<double>(round) / kRounds);
    std::vector<Slice> slices = draw_slices(options, round);
    generator.add(slices, run_slices(slices, [] { return EmptyLoop(); }));
    run_penstock(penstock, slices, options);
    if (naive == nullptr) continue;
    clear_answers(slices);
    naive->tally.add(slices, run_slices(slices, [&] { return NaiveChecks(naive->limiter); }));
  }
  on_progress(1);

  report.generator_ns_per_check = generator.cpu_ns_per_check();
  report.penstock = penstock.tally.figures(options.quota);
  report.penstock.resident_bytes_per_key = penstock.resident_bytes_per_key;
  report.keys_remembered = filled.keys;
  report.penstock.bytes_per_key = static_cast<double>(filled.bytes) /
                                  static_cast<double>(std::max<std::uint64_t>(filled.keys, 1));
  if (naive != nullptr) {
    report.naive = naive->tally.figures(options.quota);
    report.naive->resident_bytes_per_key = naive->resident_bytes_per_key;
    report.naive->bytes_per_key = naive->resident_bytes_per_key;
  }
  return report;
}

}  // namespace penstock::bench
