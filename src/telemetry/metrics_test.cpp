#include "telemetry/metrics.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace penstock::telemetry {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> lines_of(const std::string& text, const std::string& start) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(start)) found.push_back(line);
  }
  return found;
}

TEST(Metrics, ScrapesSumTheCellsOfAllWorkers) {
  Metrics numbers("1.2.3");
  WorkerMetrics& one = numbers.add_worker();
  WorkerMetrics& two = numbers.add_worker();
  one.cell(metrics::kStoreErrors, {"timeout"}).add(2);
  two.cell(metrics::kStoreErrors, {"timeout"}).add(3);
  two.cell(metrics::kStoreErrors, {"protocol_error"}).add();
  const std::string text = numbers.prometheus_text();
  EXPECT_EQ(lines_of(text, "penstock_store_errors_total"),
            (std::vector<std::string>{R"(penstock_store_errors_total{kind="protocol_error"} 1)",
                                      R"(penstock_store_errors_total{kind="timeout"} 5)"}));
  EXPECT_EQ(lines_of(text, "penstock_build_info"),
            std::vector<std::string>{R"(penstock_build_info{version="1.2.3"} 1)"});
  EXPECT_EQ(lines_of(text, "penstock_workers"), std::vector<std::string>{"penstock_workers 2"});
  EXPECT_EQ(numbers.total(metrics::kStoreErrors), 6);
}

TEST(Metrics, StoreIsServingOnlyIfItServesEveryWorker) {
  Metrics numbers("1");
  Cell& one = numbers.add_worker().cell(metrics::kStoreServing);
  Cell& two = numbers.add_worker().cell(metrics::kStoreServing);
  one.set(1);
  two.set(1);
  EXPECT_NE(numbers.prometheus_text().find("penstock_store_serving 1"), std::string::npos);
  one.set(0);
  EXPECT_NE(numbers.prometheus_text().find("penstock_store_serving 0"), std::string::npos);
}

TEST(Metrics, NumberOfSeriesIsBounded) {
  Metrics numbers("1");
  WorkerMetrics& worker = numbers.add_worker();
  for (int i = 0; i < 11'000; ++i) {
    worker.cell(metrics::kDecisions, {"api", "allowed", "rule" + std::to_string(i)}).add();
  }
  const std::string text = numbers.prometheus_text();
  EXPECT_EQ(lines_of(text, "penstock_decisions_total").size(), metrics::kDecisions.max_series);
  EXPECT_EQ(
      lines_of(text, R"(penstock_decisions_total{domain="api",outcome="allowed",rule="other"})"),
      std::vector<std::string>{
          R"(penstock_decisions_total{domain="api",outcome="allowed",rule="other"} 1001)"});
  EXPECT_EQ(numbers.total(metrics::kDecisions), 11'000);
}

TEST(Metrics, LatenciesAreCountedInBuckets) {
  Metrics numbers("1");
  WorkerMetrics& worker = numbers.add_worker();
  LatencyCells& latency = worker.latency(metrics::kStoreLatency);
  for (const auto took : {1us, 2us, 10'000us, 60'000'000us}) latency.observe(took);
  numbers.add_worker().latency(metrics::kStoreLatency).observe(1us);
  const std::string text = numbers.prometheus_text();
  const auto bucket = [&](const std::string& bound) {
    return lines_of(text, "penstock_store_latency_seconds_bucket{le=\"" + bound + "\"}").front();
  };
  EXPECT_TRUE(bucket("1e-06").ends_with("} 2")) << text;
  EXPECT_TRUE(bucket("1e-05").ends_with("} 3"));
  EXPECT_TRUE(bucket("0.01").ends_with("} 4"));
  EXPECT_TRUE(bucket("2").ends_with("} 4"));
  EXPECT_TRUE(bucket("+Inf").ends_with("} 5"));
  EXPECT_EQ(lines_of(text, "penstock_store_latency_seconds_count"),
            std::vector<std::string>{"penstock_store_latency_seconds_count 5"});
}

TEST(Metrics, SourcesAreReadOnScrapeUntilTheyAreRemoved) {
  Metrics numbers("1");
  double keys = 1;
  Metrics::Registration source = numbers.add_source(
      [&](const Metrics::Report& report) { report(metrics::kMemoryKeys, keys); });
  numbers.set(metrics::kOrphanKeys, 4);
  keys = 2;
  const std::string text = numbers.prometheus_text();
  EXPECT_NE(text.find("penstock_memory_keys 2"), std::string::npos);
  EXPECT_NE(text.find("penstock_orphan_keys 4"), std::string::npos);
  source.reset();
  keys = 3;
  EXPECT_EQ(numbers.prometheus_text().find("penstock_memory_keys 3"), std::string::npos);
}

TEST(Metrics, ScrapesAreSafeWhileWorkersCount) {
  Metrics numbers("1");
  constexpr int kRounds = 2'000;
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&worker = numbers.add_worker()] {
      LatencyCells& latency = worker.latency(metrics::kStoreLatency);
      for (int round = 0; round < kRounds; ++round) {
        worker.cell(metrics::kListenerRequests, {"http", std::to_string(200 + round % 50)}).add();
        latency.observe(1us);
      }
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(numbers.prometheus_text().empty());
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(numbers.total(metrics::kListenerRequests), 3 * kRounds);
}

TEST(Catalogue, FollowsPrometheusConventions) {
  std::set<std::string_view> names;
  for (const Metric* metric : all_metrics()) {
    EXPECT_TRUE(names.insert(metric->name).second) << metric->name << " is defined twice";
    EXPECT_TRUE(metric->name.starts_with("penstock_") || metric->name.starts_with("process_"));
    EXPECT_EQ(metric->name.ends_with("_total"), metric->type == MetricType::Counter)
        << metric->name;
    EXPECT_TRUE(metric->help.ends_with(".")) << metric->name;
  }
}

TEST(ProcessMetrics, AreReadFromProc) {
  EXPECT_EQ(cpu_ticks("77 (a) b) S 1 2 3 4 5 6 7 8 9 10 120 30 0 0 20 0"), 150U);
  EXPECT_EQ(cpu_ticks("77 (a S 1 2"), std::nullopt);
  EXPECT_EQ(cpu_ticks("77 (a) S 1 2"), std::nullopt);
  EXPECT_EQ(resident_pages("5000 1234 300 1 0 20 0\n"), 1234U);
  EXPECT_EQ(resident_pages(""), std::nullopt);
  EXPECT_EQ(max_open_files("Max processes 5 5\nMax open files            1024       524288\n"),
            1024U);
  EXPECT_EQ(max_open_files("Max open files unlimited"), std::nullopt);
}

}  // namespace
}  // namespace penstock::telemetry
