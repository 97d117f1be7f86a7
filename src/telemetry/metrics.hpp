#pragma once

#include "telemetry/metric_catalogue.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::telemetry {

// A number written by one thread and read by others.
//
// Loads and stores are relaxed: cells are independent, and a slightly stale scrape is fine. With
// one writer, load and store suffice; an atomic addition would lock the cache line.
class Cell {
 public:
  void add(std::int64_t delta = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
  }
  void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Latency histogram of one thread.
class LatencyCells {
 public:
  using Duration = std::chrono::nanoseconds;

  // Upper bounds; one more bucket is for values above the last.
  static constexpr std::array<Duration, 15> kBounds{
      std::chrono::microseconds{1},    std::chrono::microseconds{10},
      std::chrono::microseconds{50},   std::chrono::microseconds{100},
      std::chrono::microseconds{250},  std::chrono::microseconds{500},
      std::chrono::milliseconds{1},    std::chrono::microseconds{2'500},
      std::chrono::milliseconds{5},    std::chrono::milliseconds{10},
      std::chrono::milliseconds{25},   std::chrono::milliseconds{50},
      std::chrono::milliseconds{100},  std::chrono::milliseconds{500},
      std::chrono::milliseconds{2'000}};

  void observe(Duration took) noexcept;

  [[nodiscard]] std::int64_t count(std::size_t bucket) const noexcept {
    return buckets_[bucket].get();
  }
  [[nodiscard]] Duration sum() const noexcept { return Duration{sum_.get()}; }

 private:
  std::array<Cell, kBounds.size() + 1> buckets_;
  Cell sum_;
};

// Label values of a series, in the order of Metric::labels.
using LabelValues = std::initializer_list<std::string_view>;

class WorkerMetrics;

// All metrics of the process. Workers write their own cells; a scrape sums them.
//
// The number of series is bounded by Metric::max_series: beyond it the last label is "other".
//
// Thread-safety: all members, from any thread.
class Metrics {
 public:
  // `version` is shown by penstock_build_info.
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Cells for one thread; valid as long as the Metrics live.
  [[nodiscard]] WorkerMetrics& add_worker();

  // Sets a value that belongs to no worker.
  void set(const Metric& metric, double value, LabelValues labels = {});

  // Values read at scrape time. A source is called on the scraping thread, until its registration
  // is destroyed. REQUIRES: the metrics outlive the registration.
  using Report = std::function<void(const Metric&, double)>;
  using Source = std::function<void(const Report&)>;
  using Registration = std::shared_ptr<void>;
  [[nodiscard]] Registration add_source(Source source);

  // Prometheus text format and its Content-Type.
  [[nodiscard]] std::string prometheus_text() const;
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // Sum of a counter over all workers and series, for readiness checks, `top` and tests.
  [[nodiscard]] std::int64_t total(const Metric& metric) const;
  // Each series of a counter: its labels, and the sum over all workers. Holds a lock meanwhile.
  using OnSeries = std::function<void(std::span<const std::string> labels, std::int64_t sum)>;
  void for_each_series(const Metric& metric, const OnSeries& on_series) const;
  // The value passed to set() for a metric without labels; 0 without one.
  [[nodiscard]] double value(const Metric& metric) const;
  // The buckets of a latency histogram, summed over all workers.
  [[nodiscard]] std::array<std::int64_t, LatencyCells::kBounds.size() + 1> latency_buckets(
      const Metric& metric) const;

 private:
  friend class WorkerMetrics;
  struct Registry;
  std::unique_ptr<Registry> registry_;
};

// The cells of one worker. Looking up a cell takes a lock: keep the reference, which stays valid as
// long as the Metrics live.
//
// Thread-safety: none, except that other threads may scrape.
class WorkerMetrics {
 public:
  [[nodiscard]] Cell& cell(const Metric& metric, LabelValues labels = {});
  [[nodiscard]] LatencyCells& latency(const Metric& metric);

 private:
  friend class Metrics;
  WorkerMetrics(Metrics::Registry& registry, std::size_t worker)
      : registry_(registry), worker_(worker) {}

  Metrics::Registry& registry_;
  std::size_t worker_;
};

// Parsers for files in /proc/self. Empty for malformed text.

// From `stat`: user and system time in clock ticks.
[[nodiscard]] std::optional<std::uint64_t> cpu_ticks(std::string_view stat);
// From `statm`: resident pages.
[[nodiscard]] std::optional<std::uint64_t> resident_pages(std::string_view statm);
// From `limits`: soft limit of open files.
[[nodiscard]] std::optional<std::uint64_t> max_open_files(std::string_view limits);

// A source for Metrics that reports this process.
void report_process(const Metrics::Report& report);

}  // namespace penstock::telemetry
