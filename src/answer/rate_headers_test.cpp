#include "answer/rate_headers.hpp"

#include "http/target.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <string>

namespace penstock::answer {
namespace {

using rules::HeaderDraft;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string text_of(const HeaderFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) text += name + ": " + value + "\n";
  return text;
}

std::string headers(std::vector<HeaderDraft> drafts, const RateLimitInfo& info) {
  HeaderFields fields;
  add_rate_headers(fields, drafts, info);
  return text_of(fields);
}

constexpr Quota kPerMinute = per_minute(600).burst(100);
constexpr Quota kPerDay = per_day(5000).fixed_window();

RateLimitInfo within() {
  return {.limits = {{"search", kPerMinute, Decision::allow(100, 99, milliseconds{100})},
                     {"daily", kPerDay, Decision::allow(5000, 4999, seconds{3600})}},
          .strictest = 0};
}

RateLimitInfo over() {
  return {.limits = {{"search", kPerMinute,
                      Decision::deny(100, 0, milliseconds{10'000}, milliseconds{1'100})}},
          .strictest = 0};
}

TEST(RateHeaders, XRateLimitHasThreeBareNumbers) {
  EXPECT_EQ(headers({HeaderDraft::XRateLimit}, within()),
            "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 99\nX-RateLimit-Reset: 1\n");
}

// Half a second after 2024-10-04 00:00 UTC.
const ManualClock kClock{Instant{Days{20'000} + milliseconds{500}}};
constexpr std::int64_t kMidnight = 20'000LL * 86'400;

std::string unix_reset(const Quota& quota, const Decision& decision) {
  HeaderFields fields;
  add_rate_headers(fields, std::vector{HeaderDraft::XRateLimitUnix},
                   {.limits = {{"search", quota, decision}}, .strictest = 0, .clock = &kClock});
  return fields.back().first == "X-RateLimit-Reset" ? fields.back().second : "";
}

TEST(RateHeaders, ResetCanBeAUnixTimestampRoundedUp) {
  const auto at = [](std::int64_t second) { return std::to_string(kMidnight + second); };
  EXPECT_EQ(unix_reset(kPerMinute, Decision::allow(100, 99, milliseconds{100})), at(1));
  EXPECT_EQ(unix_reset(kPerMinute, Decision::allow(100, 100, Duration{0})), at(1));
  const auto denied = [](Duration wait) { return Decision::deny(100, 0, seconds{10}, wait); };
  EXPECT_EQ(unix_reset(kPerMinute, denied(milliseconds{500})), at(1));
  EXPECT_EQ(unix_reset(kPerMinute, denied(milliseconds{500} + Duration{1})), at(2));
  EXPECT_EQ(unix_reset(kPerMinute, Decision::never_fits(100, 40, seconds{6})), at(7));
  EXPECT_EQ(unix_reset(kPerDay, Decision::block(100, seconds{600})), at(601));
}

TEST(RateHeaders, ResetOfAWindowIsItsEndAlsoWhenTheClockIsReadLater) {
  const std::string tomorrow = std::to_string(kMidnight + 86'400);
  for (const Duration read_late : {Duration{0}, Duration{1}, Duration{milliseconds{400}}}) {
    const Duration until_end = std::chrono::hours{24} - milliseconds{500} + read_late;
    EXPECT_EQ(unix_reset(kPerDay, Decision::allow(5000, 4999, until_end)), tomorrow);
    EXPECT_EQ(unix_reset(kPerDay, Decision::deny(5000, 0, until_end, until_end)), tomorrow);
  }
}

RC_GTEST_PROP(RateHeaders, AClientThatWaitsUntilTheTimestampIsAdmitted, ()) {
  const Duration wait{*rc::gen::inRange<std::int64_t>(1, 100'000'000)};
  const std::string reset = unix_reset(kPerMinute, Decision::deny(100, 0, wait, wait));
  const Instant waits_until{seconds{std::stoll(reset)}};
  RC_ASSERT(waits_until >= kClock.now() + wait);
  RC_ASSERT(waits_until < kClock.now() + wait + seconds{1});
}

TEST(RateHeaders, OfTheTwoFormsOfXRateLimitTheFirstIsUsed) {
  EXPECT_EQ(headers({HeaderDraft::XRateLimit, HeaderDraft::XRateLimitUnix}, within()),
            "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 99\nX-RateLimit-Reset: 1\n");
}

TEST(RateHeaders, Draft06HasPoliciesWithoutNames) {
  EXPECT_EQ(headers({HeaderDraft::Draft06}, within()),
            "RateLimit-Limit: 100\nRateLimit-Remaining: 99\nRateLimit-Reset: 1\n"
            "RateLimit-Policy: 600;w=60, 5000;w=86400\n");
}

TEST(RateHeaders, Draft07IsOneDictionary) {
  EXPECT_EQ(headers({HeaderDraft::Draft07}, within()),
            "RateLimit: limit=100, remaining=99, reset=1\n"
            "RateLimit-Policy: 600;w=60, 5000;w=86400\n");
}

TEST(RateHeaders, Draft08NamesEveryPolicyAndReportsTheStrictest) {
  EXPECT_EQ(headers({HeaderDraft::Draft08}, within()),
            "RateLimit-Policy: \"search\";q=600;w=60;penstock-burst=100, \"daily\";q=5000;w=86400\n"
            "RateLimit: \"search\";r=99;t=1\n");
}

TEST(RateHeaders, DenialCarriesRetryAfterInEveryDraft) {
  EXPECT_EQ(headers({HeaderDraft::Off}, over()), "Retry-After: 2\n");
  EXPECT_EQ(headers({}, over()), "Retry-After: 2\n");
  EXPECT_EQ(headers({HeaderDraft::Draft08}, over()),
            "Retry-After: 2\nRateLimit-Policy: \"search\";q=600;w=60;penstock-burst=100\n"
            "RateLimit: \"search\";r=0;t=2\n");
}

TEST(RateHeaders, SeveralGenerationsStandBesideEachOtherUnlessTheyShareNames) {
  EXPECT_EQ(headers({HeaderDraft::XRateLimit, HeaderDraft::Draft07, HeaderDraft::Draft08}, over()),
            "Retry-After: 2\n"
            "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 2\n"
            "RateLimit: limit=100, remaining=0, reset=2\nRateLimit-Policy: 600;w=60\n");
}

TEST(RateHeaders, CostThatNeverFitsHasNoRetryAfter) {
  const RateLimitInfo info{
      .limits = {{"search", kPerMinute, Decision::never_fits(100, 40, milliseconds{6'000})}},
      .strictest = 0};
  EXPECT_EQ(headers({HeaderDraft::XRateLimit}, info),
            "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 40\nX-RateLimit-Reset: 6\n");
}

TEST(RateHeaders, BlockSaysWhenItEnds) {
  const RateLimitInfo info{.limits = {{"search", kPerMinute, Decision::block(100, seconds{600})}},
                           .strictest = 0};
  EXPECT_EQ(headers({}, info), "Retry-After: 600\n");
}

TEST(RateHeaders, NothingIsSaidWithoutALimit) {
  EXPECT_EQ(headers({HeaderDraft::XRateLimit, HeaderDraft::Draft08}, RateLimitInfo{}), "");
}

TEST(RateHeaders, WindowsBelowASecondAreLeftOutOrRoundedUp) {
  const RateLimitInfo info{
      .limits = {{"fast", per(10, milliseconds{100}), Decision::allow(10, 9, milliseconds{10})},
                 {"odd", per(30, milliseconds{1500}), Decision::allow(30, 29, milliseconds{50})}},
      .strictest = 0};
  EXPECT_EQ(headers({HeaderDraft::Draft08}, info),
            "RateLimit-Policy: \"fast\";q=10, \"odd\";q=30;w=2\nRateLimit: \"fast\";r=9;t=1\n");
  EXPECT_EQ(headers({HeaderDraft::Draft07}, info),
            "RateLimit: limit=10, remaining=9, reset=1\nRateLimit-Policy: 10;w=1, 30;w=2\n");
}

TEST(RateHeaders, PoliciesOfOneQuotaAreOneInDraft06) {
  const Decision decision = Decision::allow(10, 9, seconds{1});
  const RateLimitInfo info{
      .limits = {{"a", per_second(10), decision}, {"b", per_minute(10), decision}}, .strictest = 0};
  EXPECT_EQ(headers({HeaderDraft::Draft06}, info),
            "RateLimit-Limit: 10\nRateLimit-Remaining: 9\nRateLimit-Reset: 1\n"
            "RateLimit-Policy: 10;w=60\n");
}

TEST(StructuredString, EscapesAndEncodesWhatItCannotHold) {
  EXPECT_EQ(structured_string("a \"b\" \\"), "\"a \\\"b\\\" \\\\\"");
  EXPECT_EQ(structured_string("caf\xC3\xA9\r\n"), "\"caf%C3%A9%0D%0A\"");
  EXPECT_EQ(structured_string("100%"), "\"100%25\"");
}

TEST(StructuredInteger, HasAtMostFifteenDigits) {
  EXPECT_EQ(structured_integer(999'999'999'999'999), "999999999999999");
  EXPECT_EQ(structured_integer(~std::uint64_t{0}), "999999999999999");
}

std::optional<std::int64_t> value_of(const HeaderFields& fields, const std::string& name,
                                     const std::string& after = "") {
  for (const auto& [field, value] : fields) {
    if (field != name) continue;
    const std::size_t at = after.empty() ? 0 : value.find(after) + after.size();
    std::int64_t number = 0;
    const char* end = value.data() + value.size();
    if (std::from_chars(value.data() + at, end, number).ec == std::errc{}) return number;
  }
  return std::nullopt;
}

RC_GTEST_PROP(RateHeadersProperty, AClientThatWaitsForRetryAfterIsAdmittedAndFieldsAgree, ()) {
  const Duration retry{*rc::gen::inRange<std::int64_t>(1, 40'000'000'000)};
  const Duration reset = retry + Duration{*rc::gen::inRange<std::int64_t>(0, 40'000'000'000)};
  const RateLimitInfo info{.limits = {{"search", kPerMinute, Decision::deny(100, 0, reset, retry)}},
                           .strictest = 0};
  HeaderFields fields;
  add_rate_headers(fields, std::vector{HeaderDraft::XRateLimit, HeaderDraft::Draft08}, info);
  const auto after = value_of(fields, "Retry-After");
  RC_ASSERT(after.has_value());
  RC_ASSERT(*after >= 1);
  RC_ASSERT(seconds{*after} >= retry);
  RC_ASSERT(seconds{*after} - seconds{1} < retry);
  RC_ASSERT(value_of(fields, "X-RateLimit-Reset") == after);
  RC_ASSERT(value_of(fields, "RateLimit", ";t=") == after);
}

RC_GTEST_PROP(RateHeadersProperty, NoNameCanBreakTheFieldItStandsIn, (const std::string& name)) {
  const std::string text = structured_string(name);
  RC_ASSERT(text.size() >= 2);
  RC_ASSERT(text.front() == '"');
  RC_ASSERT(text.back() == '"');
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    RC_ASSERT(text[i] >= 0x20 && text[i] <= 0x7E);
    RC_ASSERT(text[i] != '"');
    if (text[i] != '\\') continue;
    ++i;
    RC_ASSERT(i + 1 < text.size());
    RC_ASSERT(text[i] == '"' || text[i] == '\\');
  }
}

// A list of strings with whole numbers as parameters, read as RFC 9651 says in sections 4.2.1 to
// 4.2.5; nothing where it would fail. Written from the RFC and not from what we write.
class StructuredList {
 public:
  struct Item {
    std::string text{};
    std::vector<std::pair<std::string, std::int64_t>> parameters{};
  };

  static std::optional<std::vector<Item>> parse(std::string_view field) {
    StructuredList reader{field};
    std::vector<Item> items;
    for (;;) {
      std::optional<Item> item = reader.item();
      if (!item) return std::nullopt;
      items.push_back(*std::move(item));
      reader.skip(" \t");
      if (reader.rest_.empty()) return items;
      if (!reader.take(',')) return std::nullopt;
      reader.skip(" \t");
      if (reader.rest_.empty()) return std::nullopt;  // a comma at the end
    }
  }

 private:
  explicit StructuredList(std::string_view field) : rest_(field) {}

  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip(std::string_view letters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(letters), rest_.size()));
  }
  std::optional<Item> item() {
    Item item;
    if (!string(item.text)) return std::nullopt;
    while (take(';')) {
      skip(" ");
      const std::size_t length = std::min(
          rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.*"), rest_.size());
      const std::string_view key = rest_.substr(0, length);
      if (key.empty() || !(key.front() == '*' || (key.front() >= 'a' && key.front() <= 'z'))) {
        return std::nullopt;
      }
      rest_.remove_prefix(length);
      if (!take('=')) return std::nullopt;
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      if (digits == 0 || digits > 15) return std::nullopt;
      item.parameters.emplace_back(key, std::stoll(std::string(rest_.substr(0, digits))));
      rest_.remove_prefix(digits);
    }
    return item;
  }
  bool string(std::string& text) {
    if (!take('"')) return false;
    while (!rest_.empty()) {
      const char letter = rest_.front();
      rest_.remove_prefix(1);
      if (letter == '"') return true;
      if (letter < 0x20 || letter > 0x7E) return false;
      if (letter != '\\') {
        text += letter;
        continue;
      }
      if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\\')) return false;
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    return false;
  }

  std::string_view rest_;
};

RC_GTEST_PROP(RateHeadersProperty, Draft08FieldsParseAsStructuredFieldsForAnyRuleName,
              (const std::string& first, const std::string& second)) {
  const Decision decision = Decision::allow(100, 7, seconds{3});
  const RateLimitInfo info{
      .limits = {{first, kPerMinute, decision}, {second, per(5, seconds{9}), decision}},
      .strictest = 1};
  HeaderFields fields;
  add_rate_headers(fields, std::vector{HeaderDraft::Draft08}, info);
  RC_ASSERT(fields.size() == 2U);
  const auto policies = StructuredList::parse(fields[0].second);
  const auto state = StructuredList::parse(fields[1].second);
  RC_ASSERT(policies.has_value());
  RC_ASSERT(state.has_value());
  RC_ASSERT(policies->size() == 2U);
  RC_ASSERT(state->size() == 1U);
  // names stay apart, and one that is a policy is the state's
  RC_ASSERT(http::percent_decoded((*policies)[0].text) == first);
  RC_ASSERT(http::percent_decoded((*policies)[1].text) == second);
  RC_ASSERT((*state)[0].text == (*policies)[1].text);
  using Parameters = std::vector<std::pair<std::string, std::int64_t>>;
  RC_ASSERT((*policies)[1].parameters == (Parameters{{"q", 5}, {"w", 9}}));
  RC_ASSERT((*state)[0].parameters == (Parameters{{"r", 7}, {"t", 3}}));
}

}  // namespace
}  // namespace penstock::answer
