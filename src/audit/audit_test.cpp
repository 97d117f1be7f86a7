#include "audit/audit.hpp"

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

ScannedKey limit_key(const std::string& name = {}) {
  return {.key = name.empty() ? kLayout.limit("alice") : kLayout.limit("alice", name),
          .type = "string",
          .ttl_ms = 1000,
          .bytes = state_that_expires(kNow + seconds{30})};
}

TEST(Audit, KnowsKindsAndNames) {
  EXPECT_EQ(classify(limit_key("daily"), kLayout).kind, "limit");
  EXPECT_EQ(classify(limit_key("daily"), kLayout).group, "daily");
  EXPECT_EQ(classify(limit_key(), kLayout).fault, KeyFault::None);
  EXPECT_FALSE(classify(limit_key(), kLayout).lacks_ttl);
  const ScannedKey counter{.key = kLayout.counter("downloads"), .type = "hash", .ttl_ms = 5};
  const ScannedKey nodes{.key = kLayout.nodes(), .type = "zset", .ttl_ms = 5};
  EXPECT_EQ(classify(nodes, kLayout).kind, "nodes");
  EXPECT_EQ(classify(nodes, kLayout).fault, KeyFault::None);
  EXPECT_EQ(repair_ttl(nodes, kLayout, kNow), std::chrono::minutes{1});
  for (const auto& [key, type] :
       {std::pair(kLayout.node_summaries(), "hash"), std::pair(kLayout.node_histories(), "hash"),
        std::pair(kLayout.nodes_watched(), "string")}) {
    const ScannedKey published{.key = key, .type = type, .ttl_ms = 5, .bytes = "1"};
    EXPECT_EQ(classify(published, kLayout).kind, "nodes") << key;
    EXPECT_EQ(classify(published, kLayout).fault, KeyFault::None) << key;
  }
  const ScannedKey audit{.key = kLayout.audit(), .type = "string", .ttl_ms = 5, .bytes = "found 3"};
  EXPECT_EQ(classify(audit, kLayout).kind, "audit");
  EXPECT_EQ(classify(audit, kLayout).fault, KeyFault::None);
  ScannedKey escrow{
      .key = kLayout.escrow("alice", "daily"),
      .type = "string",
      .ttl_ms = 5,
      .bytes = redis_store::encode(core::Escrow{.current = 1, .lifetime = seconds{1}})};
  EXPECT_EQ(classify(escrow, kLayout).kind, "escrow");
  EXPECT_EQ(classify(escrow, kLayout).group, "daily");
  EXPECT_EQ(classify(escrow, kLayout).fault, KeyFault::None);
  escrow.bytes = "gibberish";
  EXPECT_EQ(classify(escrow, kLayout).fault, KeyFault::Unreadable);
  const ScannedKey record{.key = kLayout.reservation("42"), .type = "hash", .ttl_ms = 5};
  EXPECT_EQ(classify(record, kLayout).kind, "reservation");
  EXPECT_EQ(classify(record, kLayout).group, "");  // otherwise each would be a group
  EXPECT_EQ(classify(record, kLayout).fault, KeyFault::None);
  EXPECT_EQ(repair_ttl(record, kLayout, kNow), Days{2});
  const ScannedKey open{.key = kLayout.reservations(), .type = "zset", .ttl_ms = 5};
  EXPECT_EQ(classify(open, kLayout).fault, KeyFault::None);
  const ScannedKey permits{.key = kLayout.permits("uploads"), .type = "zset", .ttl_ms = 5};
  EXPECT_EQ(classify(permits, kLayout).kind, "permits");
  EXPECT_EQ(classify(permits, kLayout).fault, KeyFault::None);
  const ScannedKey overrides{.key = kLayout.overrides(), .type = "hash", .ttl_ms = 5};
  EXPECT_EQ(classify(overrides, kLayout).kind, "overrides");
  EXPECT_EQ(classify(overrides, kLayout).fault, KeyFault::None);
  EXPECT_EQ(repair_ttl(overrides, kLayout, kNow), Days{30});
  const ScannedKey actions{.key = kLayout.actions(), .type = "list", .ttl_ms = 5};
  EXPECT_EQ(classify(actions, kLayout).kind, "actions");
  EXPECT_EQ(classify(actions, kLayout).fault, KeyFault::None);
  EXPECT_EQ(classify(counter, kLayout).kind, "counter");
  EXPECT_EQ(classify(counter, kLayout).fault, KeyFault::None);
}

TEST(Audit, AKeyThatExpiredBetweenTwoCommandsIsNoOrphan) {
  ScannedKey seen = limit_key();
  seen.bytes = "";  // reply of GETRANGE for a deleted key
  ASSERT_TRUE(is_orphan(classify(seen, kLayout)));
  EXPECT_FALSE(scanned_key(seen, "none", ScannedKey::kMissing, ""));
}

TEST(Audit, AKeyThatWasRewrittenIsClassifiedAsItIsNow) {
  const std::string state = *limit_key().bytes;
  ScannedKey deleted = limit_key();  // and created again
  deleted.bytes = "";
  ScannedKey other_type = limit_key();
  other_type.type = "list";
  ScannedKey no_ttl = limit_key();
  no_ttl.ttl_ms = ScannedKey::kNoTtl;
  for (const ScannedKey& seen : {deleted, other_type, no_ttl}) {
    ASSERT_TRUE(is_orphan(classify(seen, kLayout)));
    EXPECT_FALSE(is_orphan(classify(*scanned_key(seen, "string", 500, state), kLayout)));
    EXPECT_TRUE(classify(*scanned_key(seen, "string", -1, state), kLayout).lacks_ttl);
    EXPECT_EQ(classify(*scanned_key(seen, "string", 500, "gibberish"), kLayout).fault,
              KeyFault::Unreadable);
    EXPECT_EQ(classify(*scanned_key(seen, "list", 500, ""), kLayout).fault, KeyFault::WrongType);
  }
}

TEST(Audit, SeesWhatIsWrongWithAKey) {
  ScannedKey seen = limit_key();
  seen.ttl_ms = ScannedKey::kNoTtl;
  EXPECT_TRUE(classify(seen, kLayout).lacks_ttl);
  seen.bytes = "gibberish";
  EXPECT_EQ(classify(seen, kLayout).fault, KeyFault::Unreadable);
  seen.type = "list";
  seen.bytes.reset();
  EXPECT_EQ(classify(seen, kLayout).fault, KeyFault::WrongType);
  seen.key = "penstock:2:l:{alice}";
  EXPECT_EQ(classify(seen, kLayout).fault, KeyFault::UnknownName);
  EXPECT_EQ(classify(seen, kLayout).kind, "unknown");
}

TEST(Audit, GivesAKeyTheTimeThatItsStateNeeds) {
  ScannedKey seen = limit_key();
  EXPECT_EQ(repair_ttl(seen, kLayout, kNow), seconds{30});
  EXPECT_EQ(repair_ttl(seen, kLayout, kNow + seconds{31}), milliseconds{1});
  redis_store::KeyContent blocked;
  blocked.blocked_until = kNow + seconds{90};
  seen.bytes = redis_store::encode(blocked);
  EXPECT_EQ(repair_ttl(seen, kLayout, kNow), seconds{90});
  seen.bytes = "gibberish";
  EXPECT_EQ(repair_ttl(seen, kLayout, kNow), Days{1});
  seen = {.key = kLayout.counter("downloads"), .type = "hash"};
  EXPECT_EQ(repair_ttl(seen, kLayout, kNow), Days{366});
  seen.key = "penstock:something else";
  EXPECT_EQ(repair_ttl(seen, kLayout, kNow), std::nullopt);
}

TEST(Audit, SumsUpAndNamesOnlyAFew) {
  AuditSummary summary;
  for (int i = 0; i < 20; ++i) {
    ScannedKey seen = limit_key("daily");
    seen.ttl_ms = ScannedKey::kNoTtl;
    if (i % 2 == 0) seen.memory = 100;
    summary.add(seen, classify(seen, kLayout));
  }
  EXPECT_EQ(summary.keys(), 20U);
  EXPECT_EQ(summary.memory(), 2000);
  EXPECT_EQ(summary.without_ttl().keys, 20U);
  EXPECT_EQ(summary.without_ttl().examples.size(), AuditSummary::kExamples);
}

TEST(Audit, ShowsTheLargestNamesAndSumsUpTheOthers) {
  AuditSummary summary;
  for (std::size_t i = 0; i < AuditSummary::kMaxGroups + 10; ++i) {
    const ScannedKey seen = limit_key("name" + std::to_string(i));
    summary.add(seen, classify(seen, kLayout));
  }
  const ScannedKey often = limit_key("name77");
  summary.add(often, classify(often, kLayout));
  const auto groups = summary.groups();
  ASSERT_EQ(groups.size(), AuditSummary::kGroupsShown + 1);
  EXPECT_EQ(groups.front().name, "name77");
  std::uint64_t sum = 0;
  for (const auto& group : groups) sum += group.keys;
  EXPECT_EQ(sum, AuditSummary::kMaxGroups + 11);
}

constexpr std::string_view kInfo =
    "# Server\r\nredis_version:7.0.15\r\n# Memory\r\nused_memory:1000\r\nmaxmemory:5000\r\n"
    "maxmemory_policy:allkeys-lru\r\nevicted_keys:3\r\nrole:master\r\nconnected_slaves:2\r\n";

TEST(Audit, ParsesServerInfo) {
  const ServerInfo facts = parse_server_info("localhost:6379", kInfo);
  EXPECT_EQ(facts.version, "7.0.15");
  EXPECT_EQ(facts.role, "master");
  EXPECT_EQ(facts.replicas, 2U);
  EXPECT_EQ(facts.max_memory, 5000U);
  EXPECT_EQ(info_field(kInfo, "maxmem"), "");
  EXPECT_EQ(info_number(kInfo, "missing"), 0U);
}

TEST(Audit, ReportsServersThatEvictKeys) {
  ServerInfo facts = parse_server_info("localhost:6379", kInfo);
  EXPECT_EQ(server_problems(facts).size(), 2U);
  EXPECT_NE(server_problems(facts).front().find("allkeys-lru"), std::string::npos);
  facts.max_memory = 0;
  facts.evicted_keys = 0;
  EXPECT_TRUE(server_problems(facts).empty());
  facts.clock_skew = -seconds{2};
  EXPECT_EQ(server_problems(facts).size(), 1U);
  facts.skew_uncertainty = seconds{1};
  EXPECT_TRUE(server_problems(facts).empty());
  facts.role = "slave";
  facts.master_link = "down";
  EXPECT_EQ(server_problems(facts).size(), 2U);
}

}  // namespace
}  // namespace penstock::audit
