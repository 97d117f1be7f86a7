#include "gateway/upstream/upstream.hpp"

#include "gateway/upstream/in_flight.hpp"
#include "gateway/upstream/route_table.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

namespace penstock::gateway {
namespace {

using namespace std::chrono_literals;

rules::UpstreamSettings three_servers() {
  return {.name = "app",
          .servers = {{.host = "127.0.0.1", .port = 1},
                      {.host = "127.0.0.1", .port = 2},
                      {.host = "127.0.0.1", .port = 3}},
          .health = {.unhealthy = 2, .pause = 10s}};
}

TEST(Upstream, RotatesThroughServers) {
  boost::asio::io_context loop;
  const auto upstream = std::make_shared<Upstream>(loop.get_executor(), three_servers(), 4096);
  const base::Deadline now{};
  EXPECT_EQ(upstream->choose(now, {}), 0U);
  EXPECT_EQ(upstream->choose(now, {}), 1U);
  EXPECT_EQ(upstream->choose(now, {}), 2U);
  EXPECT_EQ(upstream->choose(now, {}), 0U);
  EXPECT_EQ(upstream->choose(now, {1}), 2U);
  EXPECT_EQ(upstream->choose(now, {0, 1, 2}), std::nullopt);
}

TEST(Upstream, ChoosesTheServerWithFewestRequestsInFlight) {
  boost::asio::io_context loop;
  const auto upstream = std::make_shared<Upstream>(loop.get_executor(), three_servers(), 4096);
  const Upstream::InFlightGuard first(upstream, 0);
  const Upstream::InFlightGuard second(upstream, 1);
  {
    const Upstream::InFlightGuard third(upstream, 2);
    EXPECT_EQ(upstream->in_flight(), 3U);
  }
  EXPECT_EQ(upstream->choose({}, {}), 2U);
  EXPECT_EQ(upstream->choose({}, {}), 2U);
}

TEST(ServerHealth, ConsecutiveFailuresEjectTheServerForAWhile) {
  ServerHealth health({.unhealthy = 2, .pause = 10s});
  const base::Deadline now{};
  health.request_failed(now);
  health.request_answered();
  health.request_failed(now);
  EXPECT_TRUE(health.is_healthy(now));
  health.request_failed(now);
  EXPECT_FALSE(health.is_healthy(now));
  EXPECT_FALSE(health.is_healthy(now + 9s));
  EXPECT_TRUE(health.is_healthy(now + 10s));
  health.request_failed(now + 10s);
  EXPECT_FALSE(health.is_healthy(now + 19s));
  health.request_answered();
  EXPECT_TRUE(health.is_healthy(now + 19s));
}

TEST(ServerHealth, OnlyPassingChecksRestoreACheckedServer) {
  ServerHealth health({.path = "/up", .healthy = 2, .unhealthy = 1, .pause = 1s});
  const base::Deadline now{};
  health.check_failed(now);
  EXPECT_FALSE(health.is_healthy(now + 1h));
  health.check_passed();
  EXPECT_FALSE(health.is_healthy(now));
  health.check_failed(now);
  health.check_passed();
  EXPECT_FALSE(health.is_healthy(now));
  health.check_passed();
  EXPECT_TRUE(health.is_healthy(now));
}

RC_GTEST_PROP(InFlight, NeverExceedsTheLimitAndForgetsIdleClients, ()) {
  InFlight in_flight;
  const std::size_t limit = *rc::gen::inRange<std::size_t>(0, 4);
  std::map<std::string, std::vector<InFlight::Permit>> places;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, bool>>>(
      rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::arbitrary<bool>()));
  for (const auto& [number, enters] : steps) {
    const std::string client = "client" + std::to_string(number);
    auto& of_client = places[client];
    if (enters) {
      auto place = in_flight.acquire(client, limit);
      RC_ASSERT(place.has_value() == (of_client.size() < limit));
      if (place) of_client.push_back(*std::move(place));
    } else if (!of_client.empty()) {
      of_client.pop_back();
    }
  }
  places.clear();
  RC_ASSERT(in_flight.clients() == 0U);
}

TEST(InFlight, CountsUpstreams) {
  InFlight in_flight;
  auto first = InFlight::acquire(in_flight.to_upstream("a"), 1);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(InFlight::acquire(in_flight.to_upstream("a"), 1).has_value());
  EXPECT_TRUE(InFlight::acquire(in_flight.to_upstream("b"), 1).has_value());
  first.reset();
  EXPECT_EQ(in_flight.to_upstream("a"), 0U);
}

TEST(RouteTable, FirstMatchingRouteWins) {
  const RouteTable table({.domain = "d",
                          .routes = {{.host = "a.example", .path = "/v1/**", .upstream = 1},
                                     {.host = "*.example", .upstream = 2, .domain = "e"},
                                     {.path = "/only", .upstream = 3}}});
  EXPECT_EQ(table.find("a.example", "/v1/x")->upstream, 1U);
  EXPECT_EQ(table.find("a.example", "/v1")->upstream, 1U);
  EXPECT_EQ(table.find("a.example", "/v1")->domain, "d");
  EXPECT_EQ(table.find("a.example", "/v1x")->upstream, 2U);
  EXPECT_EQ(table.find("b.example", "/")->domain, "e");
  EXPECT_EQ(table.find("example", "/only")->upstream, 3U);
  EXPECT_EQ(table.find("example", "/"), nullptr);
}

TEST(RouteTable, FoldsPatternsWhenPathsAreInLowerCase) {
  rules::GatewaySettings settings{.routes = {{.path = "/Login/*B", .upstream = 1}}};
  EXPECT_EQ(RouteTable(settings).find("a", "/login/ab"), nullptr);
  settings.paths.letter_case = rules::PathSettings::LetterCase::Insensitive;
  EXPECT_NE(RouteTable(settings).find("a", "/login/ab"), nullptr);
}

}  // namespace
}  // namespace penstock::gateway
