#include "properties/generators.hpp"
#include "properties/property.hpp"
#include "reference/manual_store.hpp"
#include "reference/quota_history.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

// One key checked under several quotas in any order: overrides, a changed limit, limits sent with
// the request. tests/differential/two_quotas_test.cpp does the same in Redis.
namespace penstock::properties {
namespace {

using reference::QuotaHistory;
using Key = reference::TwoKeys::Key;

// Cases in an ordinary run; `make long` sets PENSTOCK_STEPS=20, which makes 120 000 steps.
constexpr int kCases = 60;
constexpr std::size_t kStepsOfCase = 100;

class MemoryKeys final : public reference::TwoKeys {
 public:
  void set_clock(Instant now) override { memory_.clock.set(now); }
  Decision check(Key key, const Quota& quota, Cost cost) override {
    return memory_.store.check(name_of(key), quota, cost);
  }
  std::vector<Decision> peek(Key key, std::span<const Quota> quotas) override {
    std::vector<Decision> decisions;
    for (const Quota& quota : quotas) decisions.push_back(memory_.peek(name_of(key), quota));
    return decisions;
  }
  void refund(Key key, const Quota& quota, Cost cost) override {
    static_cast<void>(memory_.store.refund(name_of(key), quota, cost));
  }
  void reset(Key key) override { static_cast<void>(memory_.store.reset(name_of(key))); }
  void block(Key key, Duration duration) override { memory_.store.block(name_of(key), duration); }

 private:
  static const char* name_of(Key key) { return key == Key::Asked ? "asked" : "twin"; }

  reference::ManualStore memory_{{.max_keys = reference::ManualStore::kOneShard}};
};

enum class Mix : std::uint8_t { OneAlgorithm, Alike, Any };  // alike: all buckets, or all windows

bool is_bucket(Algorithm algorithm) {
  return algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra;
}

// Small enough to interact.
std::vector<Quota> any_quotas(Algorithm algorithm, Mix mix) {
  std::vector<Quota> quotas{*small_quota(algorithm)};
  const int others = *rc::gen::inRange(1, 4);
  for (int i = 0; i < others; ++i) {
    Algorithm other = mix == Mix::OneAlgorithm ? algorithm : *any_algorithm();
    if (mix == Mix::Alike && is_bucket(other) != is_bucket(algorithm)) other = algorithm;
    quotas.push_back(*rc::gen::oneOf(small_quota(other), any_quota(other)));
  }
  return quotas;
}

void expect_promise(Algorithm algorithm, Mix mix, QuotaHistory::Refunds refunds) {
  check_property(kCases, [&] {
    MemoryKeys keys;
    QuotaHistory history(keys, any_quotas(algorithm, mix), any_start(), kNoEnd, refunds);
    const auto draws = *rc::gen::container<std::vector<std::uint64_t>>(
        kStepsOfCase, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
    for (const std::uint64_t draw : draws) {
      const std::string problem = history.step(draw);
      if (!problem.empty()) RC_FAIL(problem);
    }
    if (refunds == QuotaHistory::Refunds::Some) return;
    const std::string problem = history.envelope();
    if (!problem.empty()) RC_FAIL(problem);
  });
}

class TwoQuotas : public ::testing::TestWithParam<Algorithm> {};

TEST_P(TwoQuotas, OfOneAlgorithmAdmitExactlyWhatFitsNextToAllUsage) {
  expect_promise(GetParam(), Mix::OneAlgorithm, QuotaHistory::Refunds::Some);
}

TEST_P(TwoQuotas, OfAnyAlgorithmsAdmitExactlyWhatFitsNextToAllUsage) {
  expect_promise(GetParam(), Mix::Any, QuotaHistory::Refunds::Some);
}

TEST_P(TwoQuotas, OfOneAlgorithmStayWithinTheLoosestEnvelope) {
  expect_promise(GetParam(), Mix::OneAlgorithm, QuotaHistory::Refunds::None);
}

TEST_P(TwoQuotas, OfBucketsOrOfWindowsStayWithinTheLoosestEnvelope) {
  expect_promise(GetParam(), Mix::Alike, QuotaHistory::Refunds::None);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, TwoQuotas, ::testing::ValuesIn(kAlgorithms), name_of);

}  // namespace
}  // namespace penstock::properties
