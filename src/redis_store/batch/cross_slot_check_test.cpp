#include "redis_store/batch/cross_slot_check.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Quota kTen = per(10, Days{1});
const Error kDown{ErrorCode::Unavailable, "down"};
const Error kLate{ErrorCode::Timeout, "late"};

const Decision kAllowed = Decision::allow(10, 9, seconds{60});
const Decision kDenied = Decision::deny(10, 0, seconds{600}, seconds{60});
const Decision kRefunded = Decision::allow(10, 8, seconds{120});
const Decision kPeeked = Decision::allow(10, 7, seconds{180});
const Decision kUnknown = Decision::allow(10, 10, Duration{0});

// A check of three limits, "0", "1" and "2", each in its own slot, and the calls it makes.
class CrossSlotCheckTest : public ::testing::Test {
 protected:
  struct Asked {
    std::string key;
    Plan::Kind kind{};
    base::Deadline deadline{};
    Decided answered{};
  };

  void start(base::Deadline deadline = base::deadline_after(seconds{60})) {
    std::vector<CrossSlotCheck::Step> steps(3);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].request.checks.push_back({.key = std::to_string(i), .quota = kTen});
      steps[i].positions = {i};
    }
    std::make_shared<CrossSlotCheck>(
        CrossSlotCheck::Dependencies{
            .executor = io_.get_executor(),
            .ask =
                [this](const CheckRequest& request, Plan::Kind kind, base::Deadline by,
                       Decided answered) {
                  asked_.push_back({request.checks.front().key, kind, by, std::move(answered)});
                },
            .on_refunded =
                [this](const std::vector<std::string>& keys) {
                  announced_.insert(announced_.end(), keys.begin(), keys.end());
                }},
        std::move(steps), deadline, [this](auto said) { said_.emplace(std::move(said)); })
        ->start();
  }

  // Answers the oldest open call for this key and kind. REQUIRES: there is one.
  void answer(const std::string& key, Plan::Kind kind, Result<std::vector<Decision>> answer) {
    const auto found = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& each) {
      return each.key == key && each.kind == kind;
    });
    ASSERT_NE(found, asked_.end()) << "no open call for " << key;
    const Decided answered = std::move(found->answered);
    asked_.erase(found);
    answered(std::move(answer));
  }
  void charge(const std::string& key, Result<std::vector<Decision>> said) {
    answer(key, Plan::Kind::Take, std::move(said));
  }
  void refund(const std::string& key, Result<std::vector<Decision>> said) {
    answer(key, Plan::Kind::Refund, std::move(said));
  }
  void peek(const std::string& key, Result<std::vector<Decision>> said) {
    answer(key, Plan::Kind::AlreadyDenied, std::move(said));
  }
  static std::vector<Decision> passed(const Decision& decision) { return {decision}; }
  static std::vector<Decision> denied() { return {kDenied}; }

  // Calls without an answer.
  [[nodiscard]] std::string open() const {
    std::string text;
    for (const Asked& each : asked_) {
      const bool is_charge = each.kind == Plan::Kind::Take;
      const bool is_refund = each.kind == Plan::Kind::Refund;
      text += (is_charge ? "charge " : is_refund ? "refund " : "peek ") + each.key + ", ";
    }
    return text;
  }
  [[nodiscard]] std::vector<Decision> decisions() const {
    return said_ && *said_ ? **said_ : std::vector<Decision>{};
  }
  void run_for(milliseconds time) {
    io_.restart();
    io_.run_for(time);
  }

  boost::asio::io_context io_{1};
  std::vector<Asked> asked_;
  std::vector<std::string> announced_;
  std::optional<Result<std::vector<Decision>>> said_;
};

TEST_F(CrossSlotCheckTest, ChargesOneSlotAfterTheOther) {
  start();
  EXPECT_EQ(open(), "charge 0, ");
  charge("0", passed(kAllowed));
  EXPECT_EQ(open(), "charge 1, ");
  charge("1", passed(kAllowed));
  charge("2", passed(kPeeked));
  EXPECT_EQ(open(), "");
  EXPECT_EQ(decisions(), (std::vector{kAllowed, kAllowed, kPeeked}));
}

TEST_F(CrossSlotCheckTest, ADenialRefundsWhatWasChargedAndPeeksTheRest) {
  start();
  charge("0", passed(kAllowed));
  charge("1", denied());
  EXPECT_EQ(open(), "refund 0, peek 2, ");
  refund("0", passed(kRefunded));
  EXPECT_FALSE(said_);
  peek("2", passed(kPeeked));
  EXPECT_EQ(decisions(), (std::vector{kRefunded, kDenied, kPeeked}));
  EXPECT_EQ(announced_, std::vector<std::string>{"0"});
}

TEST_F(CrossSlotCheckTest, ADenialStaysADenialWhenARefundAndAPeekFail) {
  start();
  charge("0", passed(kAllowed));
  charge("1", denied());
  refund("0", kDown);
  peek("2", kDown);
  EXPECT_EQ(decisions(), (std::vector{kAllowed, kDenied, kUnknown}));
  EXPECT_EQ(announced_, std::vector<std::string>{}) << "nothing was refunded";
}

TEST_F(CrossSlotCheckTest, ARefundThatMayHaveHappenedIsAnnounced) {
  start();
  charge("0", passed(kAllowed));
  charge("1", denied());
  refund("0", kLate);
  EXPECT_EQ(announced_, std::vector<std::string>{"0"});
}

TEST_F(CrossSlotCheckTest, AFailureRefundsWhatWasCharged) {
  start();
  charge("0", passed(kAllowed));
  charge("1", passed(kAllowed));
  charge("2", kDown);
  EXPECT_EQ(open(), "refund 0, refund 1, ");
  refund("0", passed(kRefunded));
  refund("1", passed(kRefunded));
  ASSERT_TRUE(said_ && !*said_);
  EXPECT_EQ(said_->error(), kDown);
  EXPECT_EQ(announced_, (std::vector<std::string>{"0", "1"}));
}

TEST_F(CrossSlotCheckTest, ADenialIsFoundAfterAFailedSlot) {
  start();
  charge("0", kDown);
  EXPECT_EQ(open(), "peek 1, peek 2, ");
  peek("1", passed(kPeeked));
  peek("2", denied());
  EXPECT_EQ(decisions(), (std::vector{kUnknown, kPeeked, kDenied}));
}

TEST_F(CrossSlotCheckTest, AFailureStaysOneWhenTheOtherSlotsWouldAdmit) {
  start();
  charge("0", kDown);
  peek("1", passed(kPeeked));
  peek("2", kLate);
  ASSERT_TRUE(said_ && !*said_);
  EXPECT_EQ(said_->error(), kDown);
}

TEST_F(CrossSlotCheckTest, AnswersByTheDeadlineAndRefundsInTheBackground) {
  const base::Deadline deadline = base::deadline_after(milliseconds{50});
  start(deadline);
  charge("0", passed(kAllowed));
  charge("1", denied());
  EXPECT_GT(asked_.front().deadline, deadline) << "a refund has a deadline of its own";
  EXPECT_EQ(asked_.back().deadline, deadline);
  run_for(seconds{30});  // returns when no timer is left
  EXPECT_EQ(decisions(), (std::vector{kAllowed, kDenied, kUnknown}));
  EXPECT_EQ(open(), "refund 0, peek 2, ");
  refund("0", passed(kRefunded));
  peek("2", passed(kPeeked));
  EXPECT_EQ(announced_, std::vector<std::string>{"0"});
}

TEST_F(CrossSlotCheckTest, AStepThatUsesUpTheTimeoutIsAnsweredAtOnce) {
  start(base::deadline_after(milliseconds{-1}));
  charge("0", passed(kAllowed));
  charge("1", kLate);
  EXPECT_TRUE(said_ && !*said_);
  EXPECT_EQ(open(), "refund 0, ") << "there is no time to peek";
  refund("0", passed(kRefunded));
  EXPECT_EQ(announced_, std::vector<std::string>{"0"});
}

TEST(CrossSlotSteps, AreTheSlotsInAscendingOrderWithTheirChecks) {
  CheckRequest request;
  for (const char* key : {"{b}1", "{a}1", "{b}2"}) {
    request.checks.push_back({.key = key, .quota = kTen});
  }
  const std::vector<CrossSlotCheck::Step> steps = CrossSlotCheck::steps_of(request);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].positions, (std::vector<std::size_t>{0, 2}));  // slot 3300
  EXPECT_EQ(steps[1].positions, std::vector<std::size_t>{1});       // slot 15495
  EXPECT_EQ(steps[0].request.checks[1].key, "{b}2");
}

}  // namespace
}  // namespace penstock::redis_store
