#include "core/any_state.hpp"
#include "core/quota_math.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::core {
namespace {

std::string product(const char* quota, const char* factor) {
  const Result<Quota> made =
      multiplied(Quota::parse(quota).value(), Decimal::parse(factor).value());
  return made ? to_string(*made) : made.error().detail;
}

TEST(Multiplied, IsExactAndRoundsDownToOneAtLeast) {
  EXPECT_EQ(product("100/m", "2"), "200/m");
  EXPECT_EQ(product("100/m burst 20", "1.5"), "150/m burst 30");
  EXPECT_EQ(product("7/m fixed_window", "0.5"), "3/m fixed_window");
  EXPECT_EQ(product("3/h sub_windows 12", "0.333333333"), "1/h sub_windows 12");
  EXPECT_EQ(product("1/s", "0.000000001"), "1/s");
  // one third of it, in doubles, would be 333333333 or 333333334
  EXPECT_EQ(product("1000000000/s", "0.333333333"), "333333333/s");
  EXPECT_EQ(to_string(*multiplied(Quota::none(std::chrono::minutes{1}), *Decimal::parse("5"))),
            "0/m fixed_window");
}

TEST(Multiplied, RejectsAProductThatIsNoQuota) {
  EXPECT_EQ(product("1000000/s", "1001"),
            "1000000/s times 1001: limit 1001000000 is above the most, 1000000000");
  EXPECT_NE(product("9000/h sliding_log", "2").find("above the most for sliding_log"),
            std::string::npos);
  EXPECT_NE(product("1000000000/s", "9000000000").find("above the most"), std::string::npos);
}

RC_GTEST_PROP(Multiplied, OfAWholeNumberIsTheProduct, ()) {
  const auto limit = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
  const auto factor = *rc::gen::inRange<std::int64_t>(1, 1000);
  const Quota quota = Quota::make(per_minute(limit)).value();
  const Quota larger =
      multiplied(quota, Decimal::from_nanos(factor * Decimal::kNanosPerUnit)).value();
  RC_ASSERT(larger.limit() == limit * factor);
  RC_ASSERT(larger.capacity() == limit * factor);
}

}  // namespace
}  // namespace penstock::core
