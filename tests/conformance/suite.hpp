#pragma once

#include "conformance/backend.hpp"
#include "reference/quotas.hpp"
#include "reference/show_decision.hpp"
#include "servers/keys.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace penstock::conformance {

// So long that nothing refills and hardly any window ends during a test.
inline constexpr Duration kLong = Days{300};

// The same limit with this algorithm.
[[nodiscard]] inline Quota long_quota(std::int64_t limit, Algorithm algorithm) {
  return reference::quota_of(limit, kLong, algorithm);
}

// A limiter on each backend with its own key prefix. After a test no key without expiry may remain.
class Conformance : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    if (!backend().missing().empty()) GTEST_SKIP() << backend().missing();
    static int runs = 0;
    run_ = ++runs;
    limiter_ = backend().limiter(prefix());
  }

  void TearDown() override {
    limiter_.reset();
    for (const servers::RedisServer* server : backend().servers()) {
      EXPECT_EQ(servers::keys_that_never_expire(*server), std::vector<std::string>{});
    }
  }

  [[nodiscard]] static Backend& backend() { return backend_of(GetParam()); }
  [[nodiscard]] AnyLimiter& limiter() { return *limiter_; }
  // Unique per test and repetition.
  [[nodiscard]] std::string prefix() const {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = test->name();
    for (char& letter : name) {
      if (letter == '/') letter = '.';
    }
    return name + "." + std::to_string(run_);
  }

  // An error fails the test and returns a denial.
  [[nodiscard]] static Decision must(const Result<Decision>& decision) {
    EXPECT_TRUE(decision) << (decision ? "" : decision.error().detail);
    return decision ? *decision : Decision{};
  }
  template <class T>
  [[nodiscard]] static T must(const Result<T>& result) {
    EXPECT_TRUE(result) << (result ? "" : result.error().detail);
    return result ? *result : T{};
  }

  [[nodiscard]] Decision check(std::string_view key, const Quota& quota, std::uint64_t cost = 1) {
    return must(limiter().check(key, quota, Cost{cost}));
  }
  [[nodiscard]] Decision check(std::string_view key, const Limits& limits, std::uint64_t cost = 1) {
    return must(limiter().check(key, limits, Cost{cost}));
  }
  [[nodiscard]] bool takes(std::string_view key, const Quota& quota, std::uint64_t cost = 1) {
    return check(key, quota, cost).allowed();
  }
  // Uses a peek.
  [[nodiscard]] std::uint32_t remaining(std::string_view key, const Quota& quota) {
    return check(key, quota, 0).remaining();
  }

 private:
  int run_ = 0;
  std::unique_ptr<AnyLimiter> limiter_;
};

[[nodiscard]] inline std::string name_of(const ::testing::TestParamInfo<BackendKind>& parameter) {
  return to_string(parameter.param);
}

}  // namespace penstock::conformance
