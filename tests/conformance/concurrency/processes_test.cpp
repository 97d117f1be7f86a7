#include "conformance/concurrency/processes.hpp"

#include "reference/quotas.hpp"
#include "servers/keys.hpp"
#include "servers/redis_server.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

// Concurrent checks admit exactly the limit.
namespace penstock::conformance {
namespace {

// So long that nothing refills during a test.
constexpr Duration kLong = Days{300};

std::uint64_t sum_of(const std::vector<std::uint64_t>& numbers) {
  std::uint64_t sum = 0;
  for (const std::uint64_t number : numbers) sum += number;
  return sum;
}

class Crowd : public ::testing::TestWithParam<Algorithm> {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<servers::RedisServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

#ifdef PENSTOCK_THREAD_SANITIZER
  void SetUp() override {
    GTEST_SKIP() << "the thread sanitizer knows no threads in a child of a process with threads";
  }
#endif

  void TearDown() override {
    EXPECT_EQ(servers::keys_that_never_expire(*server_), std::vector<std::string>{});
    server_->must({"FLUSHALL"});
  }

  [[nodiscard]] static RedisOptions options() {
    RedisOptions options;
    options.url = server_->url();
    options.timeout = std::chrono::seconds{20};
    options.connect_timeout = std::chrono::seconds{20};
    return options;
  }
  [[nodiscard]] static Quota quota(std::int64_t limit) {
    return reference::quota_of(limit, kLong, GetParam());
  }
  [[nodiscard]] static std::uint32_t remaining(const std::string& key, const Quota& quota) {
    SharedLimiter limiter = SharedLimiter::open(options()).value();
    return must(limiter.peek(key, quota)).remaining();
  }

  static std::unique_ptr<servers::RedisServer> server_;
};

std::unique_ptr<servers::RedisServer> Crowd::server_;

TEST_P(Crowd, OnOneKeyIsAdmittedExactlyTheLimit) {
  constexpr std::int64_t kLimit = 1'000;
  constexpr int kQuestions = 100;  // per thread, of 32
  const Quota limit = quota(kLimit);
  const std::vector<std::uint64_t> admitted =
      run_in_processes(options(), 1, [&](SharedLimiter& limiter, WorkerId, auto& mine) {
        for (int i = 0; i < kQuestions; ++i) {
          if (must(limiter.check("key", limit)).allowed()) ++mine[0];
        }
      });
  EXPECT_EQ(admitted[0], kLimit);
  EXPECT_EQ(remaining("key", limit), 0U);
}

TEST_P(Crowd, OnOneKeyWithDifferentCostsIsAdmittedExactlyTheLimit) {
  constexpr std::int64_t kLimit = 2'000;
  const Quota limit = quota(kLimit);
  const std::vector<std::uint64_t> admitted =
      run_in_processes(options(), 1, [&](SharedLimiter& limiter, WorkerId worker, auto& mine) {
        for (std::uint32_t i = 0; i < 60; ++i) {
          const std::uint32_t cost = 1 + (i + static_cast<std::uint32_t>(worker.thread)) % 4;
          if (must(limiter.check("key", limit, Cost{cost})).allowed()) mine[0] += cost;
        }
        // Uses up what larger costs left over.
        while (must(limiter.check("key", limit)).allowed()) ++mine[0];
      });
  EXPECT_EQ(admitted[0], kLimit);
  EXPECT_EQ(remaining("key", limit), 0U);
}

TEST_P(Crowd, OnAThousandKeysIsAdmittedExactlyTheLimitOfEach) {
  constexpr std::size_t kKeys = 1'000;
  constexpr std::int64_t kLimit = 10;  // each of 32 threads checks once
  const Quota limit = quota(kLimit);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kKeys; ++i) names.push_back("key " + std::to_string(i));
  const std::vector<std::uint64_t> admitted =
      run_in_processes(options(), kKeys, [&](SharedLimiter& limiter, WorkerId worker, auto& mine) {
        // In a random order and in batches of random size.
        std::mt19937 random(static_cast<unsigned>(worker.process * kThreads + worker.thread));
        std::vector<std::size_t> order(kKeys);
        for (std::size_t i = 0; i < kKeys; ++i) order[i] = i;
        for (std::size_t i = kKeys; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
        for (std::size_t start = 0; start < kKeys;) {
          const std::size_t size = std::min<std::size_t>(1 + random() % 100, kKeys - start);
          std::vector<Check> checks;
          for (std::size_t i = start; i < start + size; ++i) {
            checks.push_back({.key = names[order[i]], .quota = limit});
          }
          std::vector<Result<Decision>> results(size, Decision{});
          limiter.check_each(checks, results);
          for (std::size_t i = 0; i < size; ++i) {
            if (must(results[i]).allowed()) ++mine[order[start + i]];
          }
          start += size;
        }
      });
  EXPECT_EQ(admitted, std::vector<std::uint64_t>(kKeys, kLimit));
}

TEST_P(Crowd, UnderTwoLimitsExceedsNeither) {
  constexpr std::int64_t kOfAll = 500;
  constexpr std::int64_t kOfProcess = 200;  // four times this exceeds the shared limit
  const std::vector<std::uint64_t> admitted = run_in_processes(
      options(), kProcesses, [&](SharedLimiter& limiter, WorkerId worker, auto& mine) {
        const std::string own = "process " + std::to_string(worker.process);
        const std::vector<Check> checks{{.key = own, .quota = quota(kOfProcess)},
                                        {.key = "all", .quota = quota(kOfAll)}};
        for (int i = 0; i < 40; ++i) {
          if (must(limiter.check_all(checks)).allowed()) ++mine[worker.process];
        }
      });
  EXPECT_EQ(sum_of(admitted), kOfAll);
  for (std::size_t process = 0; process < kProcesses; ++process) {
    EXPECT_LE(admitted[process], kOfProcess);
    // A denial by the shared limit charges nothing to the process's own limit.
    EXPECT_EQ(remaining("process " + std::to_string(process), quota(kOfProcess)),
              kOfProcess - admitted[process]);
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Crowd, ::testing::ValuesIn(reference::kAlgorithms),
                         reference::name_of);

}  // namespace
}  // namespace penstock::conformance
