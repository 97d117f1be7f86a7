#include "differential/random.hpp"
#include "differential/virtual_redis.hpp"
#include "reference/quota_history.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>

// One key checked under several quotas in any order in Redis, without comparison to the core.
// tests/properties/two_quotas_test.cpp does the same in the memory store.
namespace penstock::differential {
namespace {

using reference::QuotaHistory;

// Steps per algorithm in an ordinary run; `make long` runs 20 times as many.
constexpr std::size_t kStepsOfAlgorithm = 5'000;
constexpr std::size_t kStepsOfHistory = 100;

template <class Answer>
Answer answer_of(const std::optional<Result<Answer>>& answer) {
  if (!answer) throw std::runtime_error("never answered");
  if (!*answer) throw std::runtime_error(answer->error().detail);
  return **answer;
}

class RedisKeys final : public reference::TwoKeys {
 public:
  explicit RedisKeys(VirtualRedis& redis) : redis_(redis) {}

  void set_clock(Instant now) override { redis_.set_clock(now); }
  Decision check(Key key, const Quota& quota, Cost cost) override {
    std::optional<Result<Decision>> answer;
    redis_.check({.key = name_of(key), .quota = quota, .cost = cost}, answer);
    redis_.wait();
    return answer_of(answer);
  }
  std::vector<Decision> peek(Key key, std::span<const Quota> quotas) override {
    std::deque<std::optional<Result<Decision>>> answers;
    for (const Quota& quota : quotas) {
      redis_.check({.key = name_of(key), .quota = quota, .cost = Cost{0}}, answers.emplace_back());
    }
    redis_.wait();
    std::vector<Decision> decisions;
    for (const auto& answer : answers) decisions.push_back(answer_of(answer));
    return decisions;
  }
  void refund(Key key, const Quota& quota, Cost cost) override {
    std::optional<Result<std::vector<Decision>>> answer;
    redis_.refund({.checks = {{.key = name_of(key), .quota = quota, .cost = cost}}}, answer);
    redis_.wait();
    static_cast<void>(answer_of(answer));
  }
  void reset(Key key) override {
    std::optional<Result<bool>> answer;
    redis_.reset({name_of(key)}, answer);
    redis_.wait();
    static_cast<void>(answer_of(answer));
  }
  void block(Key key, Duration duration) override {
    std::optional<Result<bool>> answer;
    redis_.block(name_of(key), duration, answer);
    redis_.wait();
    static_cast<void>(answer_of(answer));
  }

 private:
  static std::string name_of(Key key) {
    return key == Key::Asked ? "penstock:1:l:{asked}" : "penstock:1:l:{twin}";
  }

  VirtualRedis& redis_;
};

enum class Mix : std::uint8_t { OneAlgorithm, Alike, Any };  // alike: all buckets, or all windows

std::vector<Quota> draw_quotas(Random& random, Algorithm algorithm, Mix mix) {
  std::vector<Quota> quotas = draw_related(random, algorithm);
  const bool is_bucket = quotas.front().is_bucket();
  std::erase_if(quotas, [&](const Quota& quota) {
    if (mix == Mix::OneAlgorithm) return quota.algorithm() != algorithm;
    return mix == Mix::Alike && quota.is_bucket() != is_bucket;
  });
  return quotas;
}

class TwoQuotas : public ::testing::TestWithParam<Algorithm> {
 protected:
  static void SetUpTestSuite() { redis_ = std::make_unique<VirtualRedis>(); }
  static void TearDownTestSuite() { redis_.reset(); }

  static std::unique_ptr<VirtualRedis> redis_;
};

std::unique_ptr<VirtualRedis> TwoQuotas::redis_;

TEST_P(TwoQuotas, AdmitWhatFitsWithinTheLoosestEnvelope) {
  Random random(seed() + static_cast<std::uint64_t>(GetParam()));
  constexpr std::array kMixes{Mix::OneAlgorithm, Mix::Any, Mix::Alike};
  const std::size_t histories = scaled(kStepsOfAlgorithm) / kStepsOfHistory;
  for (std::size_t i = 0; i < histories; ++i) {
    const Mix mix = kMixes[i % kMixes.size()];
    const bool has_envelope = mix != Mix::Any && random.percent(70);
    redis_->start_over(VirtualRedis::kDefaultNow);
    RedisKeys keys(*redis_);
    QuotaHistory history(keys, draw_quotas(random, GetParam(), mix), VirtualRedis::kDefaultNow,
                         VirtualRedis::kLatest,
                         has_envelope ? QuotaHistory::Refunds::None : QuotaHistory::Refunds::Some);
    for (std::size_t step = 0; step < kStepsOfHistory; ++step) {
      ASSERT_EQ(history.step(random.next()), "") << "PENSTOCK_SEED=" << seed();
    }
    if (!has_envelope) continue;
    ASSERT_EQ(history.envelope(), "") << "PENSTOCK_SEED=" << seed();
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, TwoQuotas, ::testing::ValuesIn(reference::kAlgorithms),
                         reference::name_of);

}  // namespace
}  // namespace penstock::differential
