#include "conformance/suite.hpp"
#include "servers/wait.hpp"

#include <limits>

namespace penstock::conformance {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::int64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Decimal decimal(std::string_view text) { return Decimal::parse(text).value(); }

class Counter : public Conformance {
 protected:
  [[nodiscard]] std::int64_t add(std::string_view name, std::int64_t delta,
                                 std::optional<Duration> lifetime = {}) {
    return must(limiter().add(name, delta, lifetime));
  }
  [[nodiscard]] Decimal add(std::string_view name, Decimal delta) {
    return must(limiter().add(name, delta, {}));
  }
  [[nodiscard]] std::int64_t get(std::string_view name) { return must(limiter().get(name)); }
};

TEST_P(Counter, AddsAndReads) {
  EXPECT_EQ(get("n"), 0);
  EXPECT_EQ(add("n", 5), 5);
  EXPECT_EQ(add("n", -7), -2);
  EXPECT_EQ(add("n", 0), -2);
  EXPECT_EQ(get("n"), -2);
  EXPECT_EQ(get("other"), 0);
}

TEST_P(Counter, IsExactWithAllDigits) {
  EXPECT_EQ(add("most", kMaxInteger), kMaxInteger);
  EXPECT_EQ(add("most", -1), kMaxInteger - 1);
  EXPECT_EQ(get("most"), kMaxInteger - 1);
  EXPECT_EQ(add("least", kMin), kMin);
  EXPECT_EQ(get("least"), kMin);
  EXPECT_EQ(add("odd", 9'007'199'254'740'993), 9'007'199'254'740'993);
}

TEST_P(Counter, RejectsAnOverflow) {
  EXPECT_EQ(add("n", kMaxInteger), kMaxInteger);
  const Result<std::int64_t> over = limiter().add("n", 1, {});
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::Overflow);
  EXPECT_EQ(get("n"), kMaxInteger);
  EXPECT_EQ(add("m", kMin), kMin);
  const Result<std::int64_t> under = limiter().add("m", -1, {});
  ASSERT_FALSE(under);
  EXPECT_EQ(under.error().code, ErrorCode::Overflow);
  EXPECT_EQ(get("m"), kMin);
  EXPECT_EQ(add("d", Decimal::from_nanos(kMaxInteger)).nanos(), kMaxInteger);
  const Result<Decimal> decimal_over = limiter().add("d", decimal("0.000000001"), {});
  ASSERT_FALSE(decimal_over);
  EXPECT_EQ(decimal_over.error().code, ErrorCode::Overflow);
}

TEST_P(Counter, AddsDecimalsExactly) {
  EXPECT_EQ(must(limiter().get_decimal("spent")), Decimal{});
  EXPECT_EQ(add("spent", decimal("0.1")), decimal("0.1"));
  EXPECT_EQ(add("spent", decimal("0.2")), decimal("0.3"));
  EXPECT_EQ(add("spent", decimal("-1.000000001")), decimal("-0.700000001"));
  EXPECT_EQ(must(limiter().get_decimal("spent")), decimal("-0.700000001"));
}

TEST_P(Counter, HasSeparateIntegerAndDecimalValuesPerName) {
  EXPECT_EQ(add("n", 3), 3);
  EXPECT_EQ(add("n", decimal("0.5")), decimal("0.5"));
  EXPECT_EQ(get("n"), 3);
  EXPECT_TRUE(must(limiter().reset_counter("n")));
  EXPECT_FALSE(must(limiter().reset_counter("n")));
  EXPECT_EQ(get("n"), 0);
  EXPECT_EQ(must(limiter().get_decimal("n")), Decimal{});
}

TEST_P(Counter, ExpiresAfterItsLifetime) {
  EXPECT_EQ(add("n", 3, milliseconds{300}), 3);
  EXPECT_EQ(add("lasting", 3, hours{1}), 3);
  // A later lifetime does not extend it.
  EXPECT_GE(add("n", 1, hours{1}), 1);
  servers::wait_until("the counter to go", [&] { return get("n") == 0; });
  EXPECT_EQ(get("lasting"), 3);
  EXPECT_EQ(add("n", 1), 1);
}

TEST_P(Counter, RejectsAnInvalidLifetime) {
  for (const Duration lifetime : {Duration{0}, Duration{-1}}) {
    const Result<std::int64_t> rejected = limiter().add("n", 1, lifetime);
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().code, ErrorCode::InvalidInput);
  }
  EXPECT_EQ(get("n"), 0);
}

TEST_P(Counter, AcceptsVeryLongAndVeryShortLifetimes) {
  EXPECT_EQ(add("long", 1, Duration::max()), 1);
  EXPECT_EQ(add("long", 1), 2);
  EXPECT_EQ(add("short", 1, Duration{1}), 1);
  servers::wait_until("the counter to go", [&] { return get("short") == 0; });
}

TEST_P(Counter, IsIsolatedFromOtherNamesAndFromLimits) {
  using namespace std::string_literals;
  const std::vector<std::string> names{
      ""s, " "s, "%"s, "{n}"s, "n"s, std::string(10'000, 'n'), "\0"s, "n\0"s, "\xff"s};
  std::int64_t value = 0;
  for (const std::string& name : names) EXPECT_EQ(add(name, ++value), value);
  value = 0;
  for (const std::string& name : names) EXPECT_EQ(get(name), ++value);
  const Quota quota = per(2, kLong);
  EXPECT_TRUE(takes("n", quota, 2));
  EXPECT_TRUE(must(limiter().reset_counter("n")));
  EXPECT_FALSE(takes("n", quota));
  EXPECT_EQ(add("n", 1), 1);
  EXPECT_TRUE(must(limiter().reset("n")));
  EXPECT_EQ(get("n"), 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, Counter, ::testing::ValuesIn(kBackendKinds), name_of);

}  // namespace
}  // namespace penstock::conformance
