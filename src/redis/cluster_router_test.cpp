#include "redis/cluster_router.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;
using Step = ClusterRouter::Step;
using Refresh = ClusterRouter::Refresh;
using Action = ClusterRouter::Action;
using Type = resp::Value::Type;

resp::Value number(std::int64_t value) { return {.type = Type::Integer, .integer = value}; }
resp::Value string(std::string text) { return {.type = Type::String, .text = std::move(text)}; }
resp::Value array(std::vector<resp::Value> elements) {
  return {.type = Type::Array, .elements = std::move(elements)};
}
resp::Value range(int first, int last, resp::Value host, int port) {
  return array({number(first), number(last),
                array({std::move(host), number(port), string("id"), array({})}),
                array({string("replica"), number(port + 1), string("id2")})});
}

// Two masters: slots below 8192 on a:1, the rest on b:2.
ClusterRouter two_masters() {
  ClusterRouter router({{.host = "seed", .port = 9}});
  const auto adopted =
      router.adopt(array({range(0, 8191, string("a"), 1), range(8192, 16'383, string("b"), 2)}), 0);
  EXPECT_TRUE(adopted.has_value() && *adopted == ClusterRouter::Change::Some);
  return router;
}

Action on_error(ClusterRouter& router, std::string_view text, NodeId by, unsigned attempts = 0) {
  return router.on_error(read_server_error(text), text, by, attempts);
}

TEST(SlotRanges, AMissingHostIsTheOneThatAnswered) {
  const auto ranges = read_slot_ranges(
      array({range(0, 5, {}, 7), range(6, 6, string(""), 8), range(7, 7, string("?"), 9)}), "me");
  ASSERT_TRUE(ranges);
  EXPECT_EQ(*ranges, (std::vector<SlotRange>{{0, 5, {"me", 7}}, {6, 6, {"me", 8}}}));
}

TEST(SlotRanges, AMalformedReplyIsAnError) {
  for (const resp::Value& reply :
       {string("x"), array({number(1)}), array({array({number(0), number(1)})}),
        array({range(5, 4, string("a"), 1)}), array({range(0, 16'384, string("a"), 1)}),
        array({range(-1, 4, string("a"), 1)}), array({range(0, 4, string("a"), 0)}),
        array({range(0, 4, string("a"), 65'536)}), array({range(0, 4, number(1), 1)})}) {
    const auto ranges = read_slot_ranges(reply, "me");
    ASSERT_FALSE(ranges);
    EXPECT_EQ(ranges.error().code, ErrorCode::Protocol);
  }
}

TEST(ClusterRouter, KnowsNoNodeAtFirst) {
  const ClusterRouter router({{.host = "seed", .port = 9}});
  EXPECT_FALSE(router.has_map());
  EXPECT_EQ(router.owner(0), std::nullopt);
  EXPECT_TRUE(router.masters().empty());
}

TEST(ClusterRouter, RoutesBySlotAndKeepsTheNumbersOfNodes) {
  ClusterRouter router = two_masters();
  EXPECT_EQ(router.owner(0), 1U);
  EXPECT_EQ(router.owner(8191), 1U);
  EXPECT_EQ(router.owner(8192), 2U);
  EXPECT_EQ(router.owner(16'384), std::nullopt);
  EXPECT_EQ(router.masters(), (std::vector<NodeId>{1, 2}));
  const auto again =
      router.adopt(array({range(0, 8191, string("b"), 2), range(8192, 16'383, string("a"), 1)}), 1);
  EXPECT_TRUE(again.has_value() && *again == ClusterRouter::Change::Some);
  EXPECT_EQ(router.owner(0), 2U);
  EXPECT_EQ(router.nodes().size(), 3U);
}

TEST(ClusterRouter, ReportsWhetherTheMapChanged) {
  ClusterRouter router = two_masters();
  const auto same =
      router.adopt(array({range(0, 8191, string("a"), 1), range(8192, 16'383, string("b"), 2)}), 0);
  EXPECT_TRUE(same.has_value() && *same == ClusterRouter::Change::None);
}

TEST(ClusterRouter, AClusterWithoutSlotsIsNotReady) {
  ClusterRouter router({{.host = "seed", .port = 9}});
  const auto adopted = router.adopt(array({}), 0);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code, ErrorCode::Unavailable);
  EXPECT_FALSE(router.has_map());
}

TEST(ClusterRouter, MovedCorrectsItsSlotAtOnceAndRefreshesTheMap) {
  ClusterRouter router = two_masters();
  EXPECT_EQ(on_error(router, "MOVED 5 b:2", 1),
            (Action{.step = Step::Resend, .refresh = Refresh::Yes}));
  EXPECT_EQ(router.owner(5), 2U);
  EXPECT_EQ(router.owner(6), 1U);
}

TEST(ClusterRouter, MovedWithoutHostMeansTheOneThatAnswered) {
  ClusterRouter router = two_masters();
  static_cast<void>(on_error(router, "MOVED 5 :7", 1));
  const std::optional<NodeId> owner = router.owner(5);
  ASSERT_TRUE(owner);
  EXPECT_EQ(router.nodes()[*owner], (HostPort{.host = "a", .port = 7}));
  EXPECT_TRUE(router.is_master(*owner));
}

TEST(ClusterRouter, AskRedirectsOneCommandAndKeepsTheMap) {
  ClusterRouter router = two_masters();
  EXPECT_EQ(on_error(router, "ASK 5 b:2", 1), (Action{.step = Step::Ask, .node = 2}));
  EXPECT_EQ(router.owner(5), 1U);
}

TEST(ClusterRouter, CircularRedirectionsSlowDown) {
  ClusterRouter router = two_masters();
  EXPECT_EQ(on_error(router, "MOVED 5 b:2", 1, ClusterRouter::kPromptAttempts).step, Step::Later);
  EXPECT_EQ(on_error(router, "ASK 5 b:2", 1, ClusterRouter::kPromptAttempts).step, Step::Later);
}

TEST(ClusterRouter, TransientErrorsAreRetriedLater) {
  ClusterRouter router = two_masters();
  EXPECT_EQ(on_error(router, "TRYAGAIN Multiple keys", 1), (Action{.step = Step::Later}));
  EXPECT_EQ(on_error(router, "CLUSTERDOWN Hash slot not served", 1),
            (Action{.step = Step::Later, .refresh = Refresh::Yes}));
  EXPECT_EQ(on_error(router, "NOSCRIPT No matching script.", 1).step, Step::WithScriptText);
}

TEST(ClusterRouter, LastingErrorsAreDelivered) {
  ClusterRouter router = two_masters();
  for (const char* text : {"OOM command not allowed", "NOPERM no", "WRONGTYPE x", "ERR x"}) {
    EXPECT_EQ(on_error(router, text, 1).step, Step::Deliver) << text;
  }
}

TEST(RefreshPace, QueriesOneAtATimeAndNotTooOften) {
  const RefreshPace::Time start{};
  RefreshPace pace;
  EXPECT_EQ(pace.due(), std::nullopt);
  pace.want();
  EXPECT_EQ(pace.due(), RefreshPace::Time{});
  pace.start(start);
  pace.want();
  EXPECT_EQ(pace.due(), std::nullopt);
  pace.finish(RefreshPace::Outcome::Answered);
  EXPECT_EQ(pace.due(), start + RefreshPace::kMinPause);
  pace.start(start + 1s);
  pace.finish(RefreshPace::Outcome::Answered);
  EXPECT_EQ(pace.due(), std::nullopt);
}

TEST(RefreshPace, SlowsDownWhileNoNodeAnswers) {
  const RefreshPace::Time start{};
  RefreshPace pace;
  for (const auto pause : {200ms, 400ms, 800ms, 1600ms, 1600ms}) {
    pace.start(start);
    pace.want();
    pace.finish(RefreshPace::Outcome::Failed);
    EXPECT_EQ(pace.due(), start + pause);
  }
  pace.finish(RefreshPace::Outcome::Answered);
  EXPECT_EQ(pace.due(), start + RefreshPace::kMinPause);
}

}  // namespace
}  // namespace penstock::redis
