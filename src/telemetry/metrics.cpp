#include "telemetry/metrics.hpp"

#include "base/check.hpp"
#include "base/text.hpp"
#include "telemetry/metric_catalogue.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace penstock::telemetry {
namespace {

using Labels = std::vector<std::string>;
constexpr std::string_view kOther = "other";

template <class... Metrics>
constexpr std::array<const Metric*, sizeof...(Metrics)> addresses_of(const Metrics&... metrics) {
  return {&metrics...};
}

std::size_t label_count(const Metric& metric) {
  return static_cast<std::size_t>(std::count_if(metric.labels.begin(), metric.labels.end(),
                                                [](auto name) { return !name.empty(); }));
}

prometheus::MetricType type_of(const Metric& metric) {
  switch (metric.type) {
    case MetricType::Counter: return prometheus::MetricType::Counter;
    case MetricType::Gauge: return prometheus::MetricType::Gauge;
    case MetricType::Histogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric with_labels(const Metric& metric, const Labels& labels) {
  prometheus::ClientMetric made;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    made.label.push_back({std::string(metric.labels[i]), labels[i]});
  }
  return made;
}

double seconds_of(LatencyCells::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string text_of_file(const char* path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The n-th word, counted from 0; empty when there are fewer.
std::string_view word(std::string_view text, std::size_t number) {
  while (true) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    const std::size_t length = std::min(text.find_first_of(" \n"), text.size());
    if (number-- == 0) return text.substr(0, length);
    text.remove_prefix(length);
  }
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  return base::parse_number<std::uint64_t>(text);
}

std::size_t open_files() {
  std::error_code failure;
  std::size_t count = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", failure);
       !failure && it != std::filesystem::directory_iterator(); it.increment(failure)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // excluding the descriptor of this directory
}

void add_histogram(prometheus::MetricFamily& family,
                   const std::map<std::size_t, LatencyCells>& latencies) {
  prometheus::ClientMetric metric;
  auto& histogram = metric.histogram;
  for (std::size_t bucket = 0; bucket <= LatencyCells::kBounds.size(); ++bucket) {
    for (const auto& [worker, cells] : latencies) {
      histogram.sample_count += static_cast<std::uint64_t>(cells.count(bucket));
    }
    const bool is_last = bucket == LatencyCells::kBounds.size();
    histogram.bucket.push_back(
        {histogram.sample_count, is_last ? std::numeric_limits<double>::infinity()
                                         : seconds_of(LatencyCells::kBounds[bucket])});
  }
  for (const auto& [worker, cells] : latencies) histogram.sample_sum += seconds_of(cells.sum());
  family.metric.push_back(std::move(metric));
}

void add_value(prometheus::MetricFamily& family, prometheus::ClientMetric metric, double value) {
  metric.counter.value = value;
  metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

}  // namespace

std::span<const Metric* const> all_metrics() noexcept {
  using namespace metrics;
  static constexpr auto kAll = addresses_of(
      kDecisions, kRequests, kFailedOpen, kLocalDenied, kShadowDenied, kRolloutAborted, kNearLimit,
      kUnknownDomain, kStoreLatency, kStoreErrors, kStoreServing, kStoreRoundTrips, kStoreTimeouts,
      kStoreFastFails, kStoreConnects, kScriptReloads, kDecidedByLease, kDecidedByDenial,
      kLeaseRequests, kUnitsLeased, kLeasedKeys, kNodes, kOutagePending, kOutageReported,
      kOutageLost, kOverrides, kOrphanKeys, kMemoryKeys, kMemoryBytes, kMemoryBlocked,
      kMemoryEvicted, kMemoryForgiven, kConfigReloads, kConfigOk, kConfigTime, kConfigHash,
      kConfigRules, kListenerConnections, kListenerAccepted, kListenerRejected,
      kListenerRejectedPerAddress, kListenerRefundsIgnored, kListenerRequests, kListenerErrors,
      kUpstreamRequests, kUpstreamLatency, kUpstreamRetries, kUpstreamInFlight,
      kUpstreamHealthyServers, kGatewayRejected, kGatewaySharedLimitUnavailable,
      kLogLinesSuppressed, kBuildInfo, kWorkers, kProcessCpu, kProcessMemory, kProcessFiles,
      kProcessMaxFiles);
  return kAll;
}

void LatencyCells::observe(Duration took) noexcept {
  const auto* const bound = std::lower_bound(kBounds.begin(), kBounds.end(), took);
  buckets_[static_cast<std::size_t>(bound - kBounds.begin())].add();
  sum_.add(took.count());
}

struct Metrics::Registry {
  // One series: a cell per worker that uses it, and the value passed to Metrics::set().
  struct Series {
    std::map<std::size_t, Cell> cells{};
    std::optional<double> value{};

    [[nodiscard]] double merged(Merge merge) const {
      if (value) return *value;
      std::int64_t result = 0;
      bool is_first = true;
      for (const auto& [worker, cell] : cells) {
        result = is_first                ? cell.get()
                 : merge == Merge::Least ? std::min(result, cell.get())
                                         : result + cell.get();
        is_first = false;
      }
      return static_cast<double>(result);
    }
  };
  struct Family {
    std::map<Labels, Series> series{};
    std::map<std::size_t, LatencyCells> latencies{};  // by worker
  };

  // REQUIRES: the mutex is held.
  Series& series_of(const Metric& metric, LabelValues values) {
    PENSTOCK_CHECK(values.size() == label_count(metric));
    Family& family = families[&metric];
    Labels labels(values.begin(), values.end());
    const auto known = family.series.find(labels);
    if (known != family.series.end()) return known->second;
    if (!labels.empty() && family.series.size() + 1 >= metric.max_series) labels.back() = kOther;
    return family.series[std::move(labels)];
  }

  std::mutex mutex;
  // Guarded by the mutex, except the cells, which never move.
  std::map<const Metric*, Family> families;
  std::deque<WorkerMetrics> workers;

  std::mutex sources_mutex;  // held while sources are called; before the other one
  // Guarded by sources_mutex:
  std::list<Source> sources;
};

Metrics::Metrics(std::string_view version) : registry_(std::make_unique<Registry>()) {
  set(metrics::kBuildInfo, 1, {version});
}

Metrics::~Metrics() = default;

WorkerMetrics& Metrics::add_worker() {
  const std::lock_guard lock(registry_->mutex);
  const std::size_t number = registry_->workers.size();
  registry_->workers.push_back(WorkerMetrics(*registry_, number));
  registry_->series_of(metrics::kWorkers, {}).value = static_cast<double>(number + 1);
  return registry_->workers.back();
}

void Metrics::set(const Metric& metric, double value, LabelValues labels) {
  const std::lock_guard lock(registry_->mutex);
  registry_->series_of(metric, labels).value = value;
}

Metrics::Registration Metrics::add_source(Source source) {
  Registry& registry = *registry_;
  const std::lock_guard lock(registry.sources_mutex);
  const auto added = registry.sources.insert(registry.sources.end(), std::move(source));
  return {&registry, [added](void* owner) {
            Registry& from = *static_cast<Registry*>(owner);
            const std::lock_guard removing(from.sources_mutex);
            from.sources.erase(added);
          }};
}

Cell& WorkerMetrics::cell(const Metric& metric, LabelValues labels) {
  const std::lock_guard lock(registry_.mutex);
  return registry_.series_of(metric, labels).cells[worker_];
}

LatencyCells& WorkerMetrics::latency(const Metric& metric) {
  const std::lock_guard lock(registry_.mutex);
  return registry_.families[&metric].latencies[worker_];
}

std::string Metrics::prometheus_text() const {
  std::map<const Metric*, std::vector<double>> reported;
  {
    const std::lock_guard lock(registry_->sources_mutex);
    for (const Source& source : registry_->sources) {
      source([&](const Metric& metric, double value) { reported[&metric] = {value}; });
    }
  }
  std::vector<prometheus::MetricFamily> families;
  const std::lock_guard lock(registry_->mutex);
  for (const Metric* metric : all_metrics()) {
    prometheus::MetricFamily family{.name = std::string(metric->name),
                                    .help = std::string(metric->help),
                                    .type = type_of(*metric),
                                    .metric = {}};
    if (const auto found = registry_->families.find(metric); found != registry_->families.end()) {
      for (const auto& [labels, series] : found->second.series) {
        add_value(family, with_labels(*metric, labels), series.merged(metric->merge));
      }
      if (!found->second.latencies.empty()) add_histogram(family, found->second.latencies);
    }
    for (const double value : reported[metric]) add_value(family, {}, value);
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
  return prometheus::TextSerializer{}.Serialize(families);
}

std::int64_t Metrics::total(const Metric& metric) const {
  const std::lock_guard lock(registry_->mutex);
  const auto found = registry_->families.find(&metric);
  if (found == registry_->families.end()) return 0;
  std::int64_t sum = 0;
  for (const auto& [labels, series] : found->second.series) {
    for (const auto& [worker, cell] : series.cells) sum += cell.get();
  }
  return sum;
}

void Metrics::for_each_series(const Metric& metric, const OnSeries& on_series) const {
  const std::lock_guard lock(registry_->mutex);
  const auto found = registry_->families.find(&metric);
  if (found == registry_->families.end()) return;
  for (const auto& [labels, series] : found->second.series) {
    std::int64_t sum = 0;
    for (const auto& [worker, cell] : series.cells) sum += cell.get();
    on_series(labels, sum);
  }
}

double Metrics::value(const Metric& metric) const {
  const std::lock_guard lock(registry_->mutex);
  const auto found = registry_->families.find(&metric);
  if (found == registry_->families.end()) return 0;
  const auto series = found->second.series.find(Labels{});
  return series == found->second.series.end() ? 0 : series->second.value.value_or(0);
}

std::array<std::int64_t, LatencyCells::kBounds.size() + 1> Metrics::latency_buckets(
    const Metric& metric) const {
  std::array<std::int64_t, LatencyCells::kBounds.size() + 1> sums{};
  const std::lock_guard lock(registry_->mutex);
  const auto found = registry_->families.find(&metric);
  if (found == registry_->families.end()) return sums;
  for (const auto& [worker, cells] : found->second.latencies) {
    for (std::size_t bucket = 0; bucket < sums.size(); ++bucket)
      sums[bucket] += cells.count(bucket);
  }
  return sums;
}

std::optional<std::uint64_t> cpu_ticks(std::string_view stat) {
  // The program name, in parentheses, may contain any characters.
  const std::size_t name_ends = stat.rfind(')');
  if (name_ends == std::string_view::npos) return std::nullopt;
  const std::string_view rest = stat.substr(name_ends + 1);
  const auto user = number_of(word(rest, 11));
  const auto system = number_of(word(rest, 12));
  if (!user || !system) return std::nullopt;
  return *user + *system;
}

std::optional<std::uint64_t> resident_pages(std::string_view statm) {
  return number_of(word(statm, 1));
}

std::optional<std::uint64_t> max_open_files(std::string_view limits) {
  constexpr std::string_view kLine = "Max open files";
  const std::size_t line = limits.find(kLine);
  if (line == std::string_view::npos) return std::nullopt;
  return number_of(word(limits.substr(line + kLine.size()), 0));
}

void report_process(const Metrics::Report& report) {
  const auto tell = [&](const Metric& metric, std::optional<std::uint64_t> value, double unit) {
    if (value) report(metric, static_cast<double>(*value) * unit);
  };
  tell(metrics::kProcessCpu, cpu_ticks(text_of_file("/proc/self/stat")),
       1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  tell(metrics::kProcessMemory, resident_pages(text_of_file("/proc/self/statm")),
       static_cast<double>(sysconf(_SC_PAGESIZE)));
  tell(metrics::kProcessFiles, open_files(), 1);
  tell(metrics::kProcessMaxFiles, max_open_files(text_of_file("/proc/self/limits")), 1);
}

}  // namespace penstock::telemetry
