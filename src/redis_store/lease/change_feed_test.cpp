#include "redis_store/lease/change_feed.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::redis_store {
namespace {

const KeyLayout kOurs("penstock");

RC_GTEST_PROP(ChangedKey, IsTheOneWhoseKeyItIs,
              (const std::string& subject, const std::string& limit)) {
  RC_PRE(subject.size() <= 60 && limit.size() <= 60);
  const std::string key = limit.empty() ? kOurs.limit(subject) : kOurs.limit(subject, limit);
  const ChangedKey changed = parse_change(message_for(key, Change::Refunded), kOurs);
  RC_ASSERT(changed.change == Change::Refunded);
  const std::optional<core::LimitKey>& count = changed.name;
  const bool may_be_hash = subject.starts_with('#') || limit.starts_with('#');
  RC_ASSERT(count.has_value() != may_be_hash);
  if (count) RC_ASSERT(*count == (core::LimitKey{.subject = subject, .limit = limit}));
}

TEST(ChangedKey, MayBeAnyWhenTheKeyIsHashed) {
  const std::string longest(300, 'x');
  for (const std::string& key :
       {kOurs.limit(longest), kOurs.limit("alice", longest), kOurs.counter("alice"),
        KeyLayout("other").limit("alice"), std::string{}, std::string("malformed")}) {
    EXPECT_EQ(parse_change(message_for(key, Change::Any), kOurs), ChangedKey{}) << key;
  }
}

TEST(ChangedKey, OfTheOverridesIsNoLimit) {
  const ChangedKey changed = parse_change(message_for(kOurs.overrides(), Change::Any), kOurs);
  EXPECT_TRUE(changed.overrides);
  EXPECT_FALSE(changed.name);
  EXPECT_FALSE(parse_change(message_for(kOurs.limit("a"), Change::Any), kOurs).overrides);
  EXPECT_FALSE(parse_change("malformed", kOurs).overrides);
}

// A key that is hashed is refunded often; the overrides are not read for it.
TEST(ChangedKey, OnlyMessagesAboutOverridesAndGapsConcernThem) {
  const auto concerns = [](const std::string& key) {
    return parse_change(message_for(key, Change::Refunded), kOurs).may_concern_overrides();
  };
  EXPECT_FALSE(concerns(kOurs.limit(std::string(300, 'x'))));
  EXPECT_FALSE(concerns(kOurs.limit("alice")));
  EXPECT_TRUE(concerns(kOurs.overrides()));
  EXPECT_TRUE(ChangedKey{.is_gap = true}.may_concern_overrides());
}

}  // namespace
}  // namespace penstock::redis_store
