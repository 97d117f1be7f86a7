#include "core/permit_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::core {
namespace {

using namespace std::chrono_literals;

constexpr Instant kOpening{Days{20'000}};

TEST(PermitSet, AreAcquiredReleasedAndAcquiredAgain) {
  PermitSet permits;
  EXPECT_EQ(permits.acquire("a", 2, 10s, kOpening), (PermitResult{true, 1, 10s}));
  EXPECT_EQ(permits.acquire("b", 2, 20s, kOpening), (PermitResult{true, 2, 20s}));
  EXPECT_EQ(permits.acquire("c", 2, 10s, kOpening + 1s), (PermitResult{false, 2, 9s}));
  EXPECT_TRUE(permits.release("a", kOpening + 1s));
  EXPECT_FALSE(permits.release("a", kOpening + 1s));
  EXPECT_EQ(permits.acquire("c", 2, 10s, kOpening + 1s), (PermitResult{true, 2, 10s}));
}

TEST(PermitSet, OfOneNameAreOnePermit) {
  PermitSet permits;
  EXPECT_TRUE(permits.acquire("a", 1, 10s, kOpening).held);
  EXPECT_EQ(permits.acquire("a", 1, 10s, kOpening + 4s), (PermitResult{true, 1, 10s}));
  EXPECT_EQ(permits.acquire("a", 1, 1s, kOpening + 5s), (PermitResult{true, 1, 9s}));  // never less
}

TEST(PermitSet, ThatAreOverCannotBeRenewed) {
  PermitSet permits;
  EXPECT_TRUE(permits.acquire("a", 1, 10s, kOpening).held);
  EXPECT_EQ(permits.renew("a", 10s, kOpening + 9s), (PermitResult{true, 1, 10s}));
  EXPECT_EQ(permits.renew("a", 10s, kOpening + 19s), (PermitResult{false, 0, 0s}));
  EXPECT_EQ(permits.renew("b", 10s, kOpening), (PermitResult{false, 0, 0s}));
  EXPECT_EQ(permits.name_bytes(), 0U);
}

TEST(PermitSet, AreFreeWhenSoManyMoreAreOverThanALowerLimitNeeds) {
  PermitSet permits;
  for (int i = 1; i <= 5; ++i) {
    EXPECT_TRUE(permits.acquire(std::to_string(i), 5, i * 1s, kOpening).held);
  }
  EXPECT_EQ(permits.acquire("x", 2, 1s, kOpening), (PermitResult{false, 5, 4s}));
}

struct Step {
  int what;
  int id;
  int lasts;
  int wait;
};

rc::Gen<std::vector<Step>> histories() {
  return rc::gen::container<std::vector<Step>>(
      rc::gen::construct<Step>(rc::gen::inRange(0, 4), rc::gen::inRange(0, 6),
                               rc::gen::inRange(1, 9), rc::gen::inRange(0, 4)));
}

// Never more permits than the limit; a denied acquire is denied until its retry time, and allowed
// at it.
RC_GTEST_PROP(PermitsProperty, AdmitsNeverMoreThanTheLimitAndFreesPermitsInTime, ()) {
  const auto limit = *rc::gen::inRange<std::uint32_t>(1, 4);
  PermitSet permits;
  std::map<std::string, Instant> model;
  Instant now = kOpening;
  for (const Step& step : *histories()) {
    now += Duration{step.wait};
    std::erase_if(model, [&](const auto& permit) { return permit.second <= now; });
    const std::string id = std::to_string(step.id);
    const Duration lasts{step.lasts};
    const auto known = model.find(id);
    if (step.what <= 1) {
      const PermitResult answer = permits.acquire(id, limit, lasts, now);
      RC_ASSERT(answer.held == (known != model.end() || model.size() < limit));
      if (answer.held) {
        model[id] = std::max(model[id], now + lasts);
        RC_ASSERT(answer.lasts == model[id] - now);
      } else {
        PermitSet early = permits;
        PermitSet later = permits;
        RC_ASSERT(!early.acquire(id, limit, lasts, now + answer.lasts - Duration{1}).held);
        RC_ASSERT(later.acquire(id, limit, lasts, now + answer.lasts).held);
      }
    } else if (step.what == 2) {
      RC_ASSERT(permits.renew(id, lasts, now).held == (known != model.end()));
      if (known != model.end()) known->second = std::max(known->second, now + lasts);
    } else {
      RC_ASSERT(permits.release(id, now) == (model.erase(id) > 0));
    }
    RC_ASSERT(permits.size() == model.size());
    RC_ASSERT(permits.size() <= limit);
  }
}

}  // namespace
}  // namespace penstock::core
