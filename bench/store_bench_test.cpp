#include "bench/store_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace penstock::bench {
namespace {

StoreBenchOptions small_store() {
  StoreBenchOptions options;
  options.quota = per_hour(10);
  options.keys = 200;
  options.checks = 20'000;
  return options;
}

StoreBenchReport run(const StoreBenchOptions& options, Baseline baseline = Baseline::None) {
  return run_store_bench(options, baseline, [](double) {});
}

void expect_sound(const StoreFigures& figures, std::uint64_t checks) {
  EXPECT_EQ(figures.admitted + figures.denied, checks);
  EXPECT_GT(figures.checks_per_second, 0);
  EXPECT_GT(figures.cpu_ns_per_check, 0);
  EXPECT_GT(figures.p50_us, 0);
  EXPECT_GE(figures.p99_us, figures.p50_us);
}

TEST(StoreBench, CountsEveryCheckAndAdmitsNoneTooMany) {
  const StoreBenchReport report = run(small_store());
  expect_sound(report.penstock, 20'000);
  EXPECT_EQ(report.penstock.over_admitted, 0U);
  // each key had ten: one went to the filling of the store, and demand was ten times as much
  EXPECT_GE(report.penstock.admitted, 200U * 9);
  EXPECT_LT(report.penstock.admitted, 200U * 11);
  EXPECT_GT(report.penstock.bytes_per_key, 32);
  EXPECT_GT(report.generator_ns_per_check, 0);
}

TEST(StoreBench, DecidesTheSameInBatches) {
  StoreBenchOptions options = small_store();
  // does not divide a round
  options.batch = 37;
  const StoreBenchReport report = run(options);
  expect_sound(report.penstock, 20'000);
  EXPECT_EQ(report.penstock.over_admitted, 0U);
  EXPECT_GE(report.penstock.admitted, 200U * 9);
  EXPECT_LT(report.penstock.admitted, 200U * 11);
}

TEST(StoreBench, DecidesTheSameOnSeveralThreads) {
  StoreBenchOptions options = small_store();
  options.threads = 4;
  const StoreBenchReport report = run(options);
  expect_sound(report.penstock, 20'000);
  EXPECT_EQ(report.penstock.over_admitted, 0U);
  EXPECT_GE(report.penstock.admitted, 200U * 9);
}

TEST(StoreBench, AdmitsNoneTooManyForOtherDistributionsAndAlgorithms) {
  for (const char* distribution : {"one", "zipf:0.99"}) {
    for (const char* quota : {"10/h gcra", "10/h fixed_window", "10/h sliding_log",
                              "10/h sliding_counter", "10/h anchored_window", "10/h sub_windows"}) {
      StoreBenchOptions options = small_store();
      options.distribution = KeyDistribution::parse(distribution).value();
      options.quota = Quota::parse(quota).value();
      options.checks = 5000;
      EXPECT_EQ(run(options).penstock.over_admitted, 0U) << distribution << " " << quota;
    }
  }
}

TEST(StoreBench, MeasuresTheBaselineOnTheSameLoad) {
  EXPECT_FALSE(run(small_store()).naive.has_value());
  const StoreBenchReport report = run(small_store(), Baseline::Naive);
  ASSERT_TRUE(report.naive.has_value());
  expect_sound(*report.naive, 20'000);
  EXPECT_EQ(report.naive->over_admitted, 0U);
  EXPECT_NEAR(static_cast<double>(report.naive->admitted),
              static_cast<double>(report.penstock.admitted), 200);
}

TEST(StoreBench, ReportsProgressFromZeroToOne) {
  std::vector<double> shares;
  static_cast<void>(run_store_bench(small_store(), Baseline::None,
                                    [&](double share) { shares.push_back(share); }));
  ASSERT_FALSE(shares.empty());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GE(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);
}

TEST(StoreBench, ManagesFewerChecksThanThreadsAndRounds) {
  StoreBenchOptions options = small_store();
  options.checks = 1;
  options.threads = 3;
  const StoreBenchReport report = run(options);
  EXPECT_GT(report.penstock.admitted, 0U);
  EXPECT_EQ(report.penstock.over_admitted, 0U);
}

}  // namespace
}  // namespace penstock::bench
