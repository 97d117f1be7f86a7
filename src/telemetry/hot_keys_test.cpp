#include "telemetry/hot_keys.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace penstock::telemetry {
namespace {

std::map<std::string, HotKey> by_key(const std::vector<HotKey>& keys) {
  std::map<std::string, HotKey> found;
  for (const HotKey& key : keys) found[key.key] = key;
  return found;
}

// Small numbers are frequent.
std::vector<std::string> random_stream() {
  std::vector<std::string> keys;
  const auto numbers = *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 400U));
  for (const unsigned number : numbers)
    keys.push_back("key" + std::to_string(number % (1 + number % 40)));
  return keys;
}

RC_GTEST_PROP(SpaceSaving, BoundsEveryCountAndKeepsEveryFrequentKey, ()) {
  const auto counters = *rc::gen::inRange<std::size_t>(1, 20);
  const std::vector<std::string> stream = random_stream();
  SpaceSaving sketch(counters);
  std::map<std::string, std::uint64_t> truth;
  for (const std::string& key : stream) {
    sketch.add(key);
    ++truth[key];
  }
  const auto found = by_key(sketch.keys());
  RC_ASSERT(found.size() == std::min(counters, truth.size()));
  const std::uint64_t most_error = stream.size() / counters;
  for (const auto& [key, hot] : found) {
    RC_ASSERT(hot.count >= truth[key]);
    RC_ASSERT(hot.count - hot.error <= truth[key]);
    RC_ASSERT(hot.error <= most_error);
  }
  for (const auto& [key, count] : truth) {
    if (count > most_error) RC_ASSERT(found.contains(key));
    if (!found.contains(key)) RC_ASSERT(count <= sketch.floor());
  }
  RC_ASSERT(sketch.floor() <= most_error);
}

RC_GTEST_PROP(SpaceSaving, MergedSnapshotsKeepTheirBounds, ()) {
  std::map<std::string, std::uint64_t> truth;
  std::vector<HotKeySnapshot> pages;
  for (int worker = 0; worker < 3; ++worker) {
    SpaceSaving sketch(8);
    for (const std::string& key : random_stream()) {
      sketch.add(key);
      ++truth[key];
    }
    pages.push_back({.keys = sketch.keys(), .floor = sketch.floor()});
  }
  const std::vector<HotKey> merged = merge_hot_keys(pages, 1000);
  for (std::size_t i = 0; i < merged.size(); ++i) {
    RC_ASSERT(merged[i].count >= truth[merged[i].key]);
    RC_ASSERT(merged[i].count - merged[i].error <= truth[merged[i].key]);
    if (i > 0) RC_ASSERT(merged[i - 1].count >= merged[i].count);
  }
}

TEST(SpaceSaving, OldCountsDecay) {
  SpaceSaving sketch(2);
  for (int i = 0; i < 64; ++i) sketch.add("old");
  for (int i = 0; i < 7; ++i) sketch.halve();
  EXPECT_TRUE(sketch.keys().empty());
  sketch.add("new");
  sketch.add("newer");
  const auto found = by_key(sketch.keys());
  EXPECT_TRUE(found.contains("new"));
  EXPECT_TRUE(found.contains("newer"));
}

TEST(SpaceSaving, TruncatesLongKeys) {
  SpaceSaving sketch(2);
  sketch.add(std::string(10'000, 'x'));
  EXPECT_EQ(sketch.keys().front().key.size(), SpaceSaving::kMaxKeyBytes);
}

TEST(HotKeys, RuleAndSubjectAreShownAfterATick) {
  HotKeyRegistry registry;
  HotKeys one(registry, 0);
  HotKeys two(registry, 1);
  for (int i = 0; i < 3; ++i) one.note(HotKeyKind::Requested, "api/search", "alice");
  two.note(HotKeyKind::Requested, "api/search", "alice");
  two.note(HotKeyKind::Requested, "api/search", "bob");
  two.note(HotKeyKind::Denied, "api/search", "bob");
  EXPECT_TRUE(registry.top(HotKeyKind::Requested, 10).empty());
  one.tick();
  two.tick();
  const auto top = registry.top(HotKeyKind::Requested, 10);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].key, "api/search alice");
  EXPECT_EQ(top[0].count, 4U);
  EXPECT_EQ(registry.top(HotKeyKind::Requested, 1).size(), 1U);
  EXPECT_EQ(registry.top(HotKeyKind::Denied, 10).front().key, "api/search bob");
}

TEST(HotKeys, SampledCountsAreCloseToTheTrueCounts) {
  HotKeyRegistry registry;
  HotKeys keys(registry, 0);
  constexpr int kRequests = 100'000;
  for (int i = 0; i < kRequests; ++i) {  // limits of one request alternate
    keys.note(HotKeyKind::Requested, "user", i % 4 == 0 ? "alice" : "u" + std::to_string(i % 3000));
    keys.note(HotKeyKind::Requested, "path", "/");
  }
  keys.tick();
  const auto top = registry.top(HotKeyKind::Requested, 2);
  EXPECT_EQ(top[0].key, "path /");
  EXPECT_NEAR(static_cast<double>(top[0].count), kRequests, 0.05 * kRequests);
  EXPECT_EQ(top[1].key, "user alice");
  EXPECT_NEAR(static_cast<double>(top[1].count), 0.25 * kRequests, 0.05 * kRequests);
}

TEST(HotKeys, CountsAreExactBelowTheSamplingThreshold) {
  HotKeyRegistry registry;
  HotKeys keys(registry, 0);
  for (int tick = 0; tick < 3; ++tick) {
    for (std::uint32_t i = 0; i < HotKeys::kUnsampledPerTick; ++i)
      keys.note(HotKeyKind::Requested, "r", "a");
    keys.tick();
  }
  EXPECT_EQ(registry.top(HotKeyKind::Requested, 1).front().count, 3 * HotKeys::kUnsampledPerTick);
}

TEST(HotKeys, CountsDecayWithTicks) {
  HotKeyRegistry registry;
  HotKeys keys(registry, 0);
  for (int i = 0; i < 8; ++i) keys.note(HotKeyKind::Requested, "rule", "alice");
  for (unsigned i = 0; i < HotKeys::kHalfLife + 1; ++i) keys.tick();
  EXPECT_EQ(registry.top(HotKeyKind::Requested, 1).front().count, 4U);
}

}  // namespace
}  // namespace penstock::telemetry
