#include "audit/audit.hpp"

#include "audit/info_text.hpp"
#include "redis_store/replay/state_codec.hpp"

#include <gtest/gtest.h>

namespace penstock::audit {
namespace {

using redis_store::KeyLayout;
using std::chrono::milliseconds;
using std::chrono::seconds;

const KeyLayout kLayout("penstock");
constexpr Quota kAudited = per_minute(10);
constexpr Instant kNow{seconds{1'700'000'000}};

std::string state_that_expires(Instant at) {
  redis_store::KeyContent content;
  content.quota = kAudited;
  content.state = core::TokenBucket::State{};
  content.expires_ms = at.time_since_epoch() / milliseconds{1};
  return redis_store::encode(content);
}

SeenKey limit_key(const std::string& name = {}) {
  return {.key = name.empty() ? kLayout.limit("alice") : kLayout.limit("alice", name),
          .type = "string",
          .ttl_ms = 1000,
          .bytes = state_that_expires(kNow + seconds{30})};
}

TEST(Audit, KnowsKindsAndNames) {
  EXPECT_EQ(judge(limit_key("daily"), kLayout).kind, "limit");
  EXPECT_EQ(judge(limit_key("daily"), kLayout).group, "daily");
  EXPECT_EQ(judge(limit_key(), kLayout).fault, KeyFault::None);
  EXPECT_FALSE(judge(limit_key(), kLayout).lacks_ttl);
  const SeenKey counter{.key = kLayout.counter("downloads"), .type = "hash", .ttl_ms = 5};
  const SeenKey nodes{.key = kLayout.nodes(), .type = "zset", .ttl_ms = 5};
  EXPECT_EQ(judge(nodes, kLayout).kind, "nodes");
  EXPECT_EQ(judge(nodes, kLayout).fault, KeyFault::None);
  EXPECT_EQ(ttl_to_give(nodes, kLayout, kNow), std::chrono::minutes{1});
  const SeenKey audit{.key = kLayout.audit(), .type = "string", .ttl_ms = 5, .bytes = "found 3"};
  EXPECT_EQ(judge(audit, kLayout).kind, "audit");
  EXPECT_EQ(judge(audit, kLayout).fault, KeyFault::None);
  SeenKey escrow{.key = kLayout.escrow("alice", "daily"),
                 .type = "string",
                 .ttl_ms = 5,
                 .bytes = redis_store::encode(core::Escrow{.current = 1, .lifetime = seconds{1}})};
  EXPECT_EQ(judge(escrow, kLayout).kind, "escrow");
  EXPECT_EQ(judge(escrow, kLayout).group, "daily");
  EXPECT_EQ(judge(escrow, kLayout).fault, KeyFault::None);
  escrow.bytes = "gibberish";
  EXPECT_EQ(judge(escrow, kLayout).fault, KeyFault::Unreadable);
  const SeenKey record{.key = kLayout.reservation("42"), .type = "hash", .ttl_ms = 5};
  EXPECT_EQ(judge(record, kLayout).kind, "reservation");
  EXPECT_EQ(judge(record, kLayout).group, "");  // or each would be a group of its own
  EXPECT_EQ(judge(record, kLayout).fault, KeyFault::None);
  EXPECT_EQ(ttl_to_give(record, kLayout, kNow), Days{2});
  const SeenKey open{.key = kLayout.reservations(), .type = "zset", .ttl_ms = 5};
  EXPECT_EQ(judge(open, kLayout).fault, KeyFault::None);
  const SeenKey seats{.key = kLayout.seats("uploads"), .type = "zset", .ttl_ms = 5};
  EXPECT_EQ(judge(seats, kLayout).kind, "seats");
  EXPECT_EQ(judge(seats, kLayout).fault, KeyFault::None);
  EXPECT_EQ(judge(counter, kLayout).kind, "counter");
  EXPECT_EQ(judge(counter, kLayout).fault, KeyFault::None);
}

TEST(Audit, AKeyThatExpiredBetweenTwoCommandsIsNoOrphan) {
  SeenKey seen = limit_key();
  seen.bytes = "";  // as GETRANGE says of a key that is gone
  ASSERT_TRUE(is_orphan(judge(seen, kLayout)));
  EXPECT_FALSE(seen_at_once(seen, "none", SeenKey::kGone, ""));
}

TEST(Audit, AKeyThatWasWrittenAgainIsJudgedAsItIsNow) {
  const std::string state = *limit_key().bytes;
  SeenKey deleted = limit_key();  // and created again
  deleted.bytes = "";
  SeenKey other_type = limit_key();
  other_type.type = "list";
  SeenKey no_ttl = limit_key();
  no_ttl.ttl_ms = SeenKey::kNoTtl;
  for (const SeenKey& seen : {deleted, other_type, no_ttl}) {
    ASSERT_TRUE(is_orphan(judge(seen, kLayout)));
    EXPECT_FALSE(is_orphan(judge(*seen_at_once(seen, "string", 500, state), kLayout)));
    EXPECT_TRUE(judge(*seen_at_once(seen, "string", -1, state), kLayout).lacks_ttl);
    EXPECT_EQ(judge(*seen_at_once(seen, "string", 500, "gibberish"), kLayout).fault,
              KeyFault::Unreadable);
    EXPECT_EQ(judge(*seen_at_once(seen, "list", 500, ""), kLayout).fault, KeyFault::WrongType);
  }
}

TEST(Audit, SeesWhatIsWrongWithAKey) {
  SeenKey seen = limit_key();
  seen.ttl_ms = SeenKey::kNoTtl;
  EXPECT_TRUE(judge(seen, kLayout).lacks_ttl);
  seen.bytes = "gibberish";
  EXPECT_EQ(judge(seen, kLayout).fault, KeyFault::Unreadable);
  seen.type = "list";
  seen.bytes.reset();
  EXPECT_EQ(judge(seen, kLayout).fault, KeyFault::WrongType);
  seen.key = "penstock:2:l:{alice}";
  EXPECT_EQ(judge(seen, kLayout).fault, KeyFault::UnknownName);
  EXPECT_EQ(judge(seen, kLayout).kind, "unknown");
}

TEST(Audit, GivesAKeyTheTimeThatItsStateNeeds) {
  SeenKey seen = limit_key();
  EXPECT_EQ(ttl_to_give(seen, kLayout, kNow), seconds{30});
  EXPECT_EQ(ttl_to_give(seen, kLayout, kNow + seconds{31}), milliseconds{1});
  redis_store::KeyContent blocked;
  blocked.blocked_until = kNow + seconds{90};
  seen.bytes = redis_store::encode(blocked);
  EXPECT_EQ(ttl_to_give(seen, kLayout, kNow), seconds{90});
  seen.bytes = "gibberish";
  EXPECT_EQ(ttl_to_give(seen, kLayout, kNow), Days{1});
  seen = {.key = kLayout.counter("downloads"), .type = "hash"};
  EXPECT_EQ(ttl_to_give(seen, kLayout, kNow), Days{366});
  seen.key = "penstock:something else";
  EXPECT_EQ(ttl_to_give(seen, kLayout, kNow), std::nullopt);
}

TEST(Audit, SumsUpAndNamesOnlyAFew) {
  AuditSummary summary;
  for (int i = 0; i < 20; ++i) {
    SeenKey seen = limit_key("daily");
    seen.ttl_ms = SeenKey::kNoTtl;
    if (i % 2 == 0) seen.memory = 100;
    summary.add(seen, judge(seen, kLayout));
  }
  EXPECT_EQ(summary.keys(), 20U);
  EXPECT_EQ(summary.memory(), 2000);
  EXPECT_EQ(summary.without_ttl().keys, 20U);
  EXPECT_EQ(summary.without_ttl().examples.size(), AuditSummary::kExamples);
}

TEST(Audit, ShowsTheLargestNamesAndSumsUpTheRest) {
  AuditSummary summary;
  for (std::size_t i = 0; i < AuditSummary::kMostGroups + 10; ++i) {
    const SeenKey seen = limit_key("name" + std::to_string(i));
    summary.add(seen, judge(seen, kLayout));
  }
  const SeenKey often = limit_key("name77");
  summary.add(often, judge(often, kLayout));
  const auto groups = summary.groups();
  ASSERT_EQ(groups.size(), AuditSummary::kGroupsShown + 1);
  EXPECT_EQ(groups.front().name, "name77");
  std::uint64_t sum = 0;
  for (const auto& group : groups) sum += group.keys;
  EXPECT_EQ(sum, AuditSummary::kMostGroups + 11);
}

constexpr std::string_view kInfo =
    "# Server\r\nredis_version:7.0.15\r\n# Memory\r\nused_memory:1000\r\nmaxmemory:5000\r\n"
    "maxmemory_policy:allkeys-lru\r\nevicted_keys:3\r\nrole:master\r\nconnected_slaves:2\r\n";

TEST(Audit, ReadsWhatAServerSaysAboutItself) {
  const ServerFacts facts = read_facts("localhost:6379", kInfo);
  EXPECT_EQ(facts.version, "7.0.15");
  EXPECT_EQ(facts.role, "master");
  EXPECT_EQ(facts.replicas, 2U);
  EXPECT_EQ(facts.max_memory, 5000U);
  EXPECT_EQ(info_field(kInfo, "maxmem"), "");
  EXPECT_EQ(info_number(kInfo, "missing"), 0U);
}

TEST(Audit, ComplainsAboutServersThatForget) {
  ServerFacts facts = read_facts("localhost:6379", kInfo);
  EXPECT_EQ(complaints(facts).size(), 2U);
  EXPECT_NE(complaints(facts).front().find("allkeys-lru"), std::string::npos);
  facts.max_memory = 0;
  facts.evicted_keys = 0;
  EXPECT_TRUE(complaints(facts).empty());
  facts.clock_skew = -seconds{2};
  EXPECT_EQ(complaints(facts).size(), 1U);
  facts.skew_uncertainty = seconds{1};
  EXPECT_TRUE(complaints(facts).empty());
  facts.role = "slave";
  facts.master_link = "down";
  EXPECT_EQ(complaints(facts).size(), 2U);
}

}  // namespace
}  // namespace penstock::audit
