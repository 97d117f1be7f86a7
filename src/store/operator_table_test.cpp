#include "store/operator_table.hpp"

#include "penstock/clock.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::store {
namespace {

using namespace std::chrono_literals;
using ActionKind = OperatorAction::Kind;

Override override_of(std::string subject, std::string quota = "500/m") {
  return {.rule = "api/search",
          .subject = std::move(subject),
          .effect = Override::Effect::Limit,
          .value = std::move(quota),
          .reason = "incident 12",
          .by = "alice"};
}

struct OperatorTableTest : ::testing::Test {
  ManualClock clock;
  OperatorTable table{clock};

  [[nodiscard]] std::vector<Override> all() { return table.list(~0ULL).overrides.value(); }
};

TEST_F(OperatorTableTest, KeepsOneOverridePerRuleAndSubject) {
  const Override first = table.set(override_of("user=42"), 1h).value();
  EXPECT_EQ(first.set_at, clock.now());
  EXPECT_EQ(first.expires_at, clock.now() + 1h);
  EXPECT_TRUE(table.set(override_of(""), 1h));
  const Override second = table.set(override_of("user=42", "900/m"), 2h).value();
  EXPECT_EQ(all(), (std::vector{table.set(override_of(""), 1h).value(), second}));
}

TEST_F(OperatorTableTest, ForgetsAnOverrideAtItsExpiry) {
  ASSERT_TRUE(table.set(override_of("user=42"), 1h));
  clock.advance(1h - 1us);
  EXPECT_EQ(all().size(), 1U);
  clock.advance(1us);
  EXPECT_TRUE(all().empty());
  EXPECT_FALSE(table.remove(override_of("user=42")));
}

TEST_F(OperatorTableTest, RejectsMoreThanTheMostAndAcceptsReplacements) {
  for (std::size_t i = 0; i < OperatorStore::kMaxOverrides; ++i) {
    ASSERT_TRUE(table.set(override_of("user=" + std::to_string(i)), 1h));
  }
  const Result<Override> more = table.set(override_of("user=more"), 1h);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::CapacityExhausted);
  EXPECT_NE(more.error().detail.find("1000 overrides"), std::string::npos);
  EXPECT_TRUE(table.set(override_of("user=0", "1/m"), 2h));
  clock.advance(1h);
  EXPECT_TRUE(table.set(override_of("user=more"), 1h)) << "expired ones are purged";
}

TEST_F(OperatorTableTest, ListsOnlyAnUnknownVersion) {
  EXPECT_FALSE(table.list(0).overrides) << "there is none at the start";
  ASSERT_TRUE(table.set(override_of("user=42"), 1h));
  const OverrideList list = table.list(0);
  ASSERT_TRUE(list.overrides);
  EXPECT_FALSE(table.list(list.version).overrides);
  ASSERT_TRUE(table.remove(override_of("user=42")));
  EXPECT_NE(table.list(list.version).version, list.version);
  EXPECT_TRUE(table.list(list.version).overrides.value().empty());
}

TEST_F(OperatorTableTest, LogsWhatWasSetAndRemoved) {
  ASSERT_TRUE(table.set(override_of("user=42"), 1h));
  clock.advance(1min);
  Override removal = override_of("user=42");
  removal.by = "bob";
  removal.reason = "over";
  ASSERT_TRUE(table.remove(removal));
  EXPECT_FALSE(table.remove(removal));
  const std::vector<OperatorAction> log = table.actions(10);
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].kind, ActionKind::OverrideRemove);
  EXPECT_EQ(log[0].by + " " + log[0].reason + " " + log[0].detail, "bob over limit 500/m");
  EXPECT_EQ(log[1].kind, ActionKind::OverrideSet);
  EXPECT_EQ(log[1].expires_at, log[1].at + 1h);
}

TEST_F(OperatorTableTest, KeepsTheNewestActions) {
  for (std::size_t i = 0; i < OperatorStore::kMaxActions + 5; ++i) {
    table.append({.kind = ActionKind::Reset, .subject = std::to_string(i)}, Duration{0});
  }
  const std::vector<OperatorAction> log = table.actions(10'000);
  EXPECT_EQ(log.size(), OperatorStore::kMaxActions);
  EXPECT_EQ(log.front().subject, "1004");
  EXPECT_FALSE(log.front().expires_at);
  EXPECT_EQ(table.actions(3).size(), 3U);
}

TEST(OperatorAction, KindsHaveNames) {
  for (const ActionKind kind : {ActionKind::Block, ActionKind::Unblock, ActionKind::Reset,
                                ActionKind::OverrideSet, ActionKind::OverrideRemove}) {
    EXPECT_EQ(parse_action_kind(to_string(kind)), kind);
  }
  EXPECT_FALSE(parse_action_kind("other"));
}

}  // namespace
}  // namespace penstock::store
