#include "penstock/limits.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Limits, KeepsNamesAndQuotasInOrder) {
  const Limits limits =
      Limits::make({{"second", per_second(10)}, {"day", per_day(5000).gcra()}}).value();
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].name, "second");
  EXPECT_EQ(limits[0].quota, Quota(per_second(10)));
  EXPECT_EQ(limits[1].name, "day");
  EXPECT_EQ(limits[1].quota, Quota(per_day(5000).gcra()));
}

TEST(Limits, NamesTheOneThatDecided) {
  const Limits limits = Limits::make({{"second", per_second(10)}, {"day", per_day(5000)}}).value();
  Decision decision = Decision::allow(10, 5, Duration{1});
  EXPECT_EQ(limits.name_of(decision), "second");
  decision.set_decided_by(1);
  EXPECT_EQ(limits.name_of(decision), "day");
}

TEST(Limits, RejectsAnEmptyList) {
  const Result<Limits> limits = Limits::make({});
  ASSERT_FALSE(limits);
  EXPECT_EQ(limits.error().code, ErrorCode::InvalidInput);
}

TEST(Limits, RejectsAnEmptyNameAndSaysWhich) {
  const Result<Limits> limits = Limits::make({{"a", per_second(10)}, {"", per_second(10)}});
  ASSERT_FALSE(limits);
  EXPECT_NE(limits.error().detail.find("number 2"), std::string::npos) << limits.error().detail;
}

TEST(Limits, RejectsANameThatIsUsedTwice) {
  const Result<Limits> limits = Limits::make(
      {{"a", per_second(10)}, {"twice", per_day(1)}, {"b", per_day(2)}, {"twice", per_day(3)}});
  ASSERT_FALSE(limits);
  EXPECT_NE(limits.error().detail.find("\"twice\""), std::string::npos) << limits.error().detail;
}

TEST(Limits, NamesDifferByCase) {
  EXPECT_TRUE(Limits::make({{"a", per_second(10)}, {"A", per_second(10)}}));
}

}  // namespace
}  // namespace penstock
