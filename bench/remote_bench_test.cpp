#include "bench/remote_bench.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

namespace penstock::bench {
namespace {

// Admits a fixed number per key, and fails every nth call.
class FakeContender final : public RemoteContender {
 public:
  explicit FakeContender(unsigned per_key, unsigned fail_every = 0)
      : per_key_(per_key), fail_every_(fail_every) {}

  std::optional<Error> check(std::span<const std::string_view> keys,
                             std::span<Answer> answers) override {
    const std::lock_guard lock(mutex_);
    ++calls_;
    largest_ = std::max(largest_, keys.size());
    if (fail_every_ > 0 && calls_ % fail_every_ == 0) {
      std::fill(answers.begin(), answers.end(), Answer::Failed);
      return Error{ErrorCode::Timeout, "too slow"};
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      answers[i] = ++asked_[std::string(keys[i])] <= per_key_ ? Answer::Admitted : Answer::Denied;
    }
    return std::nullopt;
  }
  std::uint64_t round_trips() override { return calls_; }

  [[nodiscard]] std::size_t largest() const { return largest_; }

 private:
  unsigned per_key_;
  unsigned fail_every_;
  std::mutex mutex_;
  std::uint64_t calls_ = 0;
  std::size_t largest_ = 0;
  std::map<std::string, unsigned> asked_;
};

RemoteBenchOptions small() {
  RemoteBenchOptions options;
  options.quota = per_day(10);
  options.keys = 20;
  options.checks = 1000;
  options.batch = 8;
  return options;
}

Result<RemoteBenchReport> run(const RemoteBenchOptions& options, RemoteContender& penstock,
                              RemoteContender* baseline = nullptr) {
  std::chrono::microseconds used{0};
  return run_remote_bench(options,
                          {.penstock = &penstock,
                           .baseline = baseline,
                           .server_cpu = [&]() -> Result<std::chrono::microseconds> {
                             return used += std::chrono::microseconds{400};
                           }},
                          [](double) {});
}

TEST(RemoteBench, CountsAnswersCallsAndTheServersTime) {
  FakeContender penstock(10);
  const RemoteBenchReport report = run(small(), penstock).value();
  EXPECT_EQ(report.penstock.admitted + report.penstock.denied, 1000U);
  EXPECT_LE(report.penstock.admitted, 20U * 9);  // the tenth went to the first round over all keys
  EXPECT_EQ(report.penstock.over_admitted, 0U);
  EXPECT_EQ(report.penstock.failed, 0U);
  EXPECT_EQ(report.penstock.round_trips, 5U * 25);
  EXPECT_DOUBLE_EQ(report.penstock.redis_cpu_us_per_check, 5 * 400 / 1000.0);
  EXPECT_GT(report.penstock.p50_us, 0);
  EXPECT_FALSE(report.baseline.has_value());
}

TEST(RemoteBench, DetectsAContenderThatAdmitsTooMany) {
  FakeContender penstock(10);
  FakeContender generous(1'000'000);
  RemoteBenchOptions options = small();
  options.threads = 4;
  const RemoteBenchReport report = run(options, penstock, &generous).value();
  EXPECT_EQ(report.penstock.over_admitted, 0U);
  EXPECT_GE(report.baseline->over_admitted.value(), 1000U + 20 - 20 * 10);
}

TEST(RemoteBench, CountsFailuresApartFromDenials) {
  FakeContender penstock(10, 5);
  const RemoteBenchReport report = run(small(), penstock).value();
  EXPECT_EQ(report.penstock.failed, 25U * 8);
  EXPECT_EQ(report.penstock.first_failure, "too slow");
  EXPECT_EQ(report.penstock.admitted + report.penstock.denied + report.penstock.failed, 1000U);
}

TEST(RemoteBench, FailsWhenTheServerIsUnreachable) {
  FakeContender penstock(10, 1);
  const Result<RemoteBenchReport> report = run(small(), penstock);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::Timeout);
}

}  // namespace
}  // namespace penstock::bench
