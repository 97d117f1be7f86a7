#include "redis_store/keys/key_layout.hpp"

#include "redis/hash_slot.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::redis_store {
namespace {

const KeyLayout kLayout("penstock");

TEST(KeyLayout, IsReadable) {
  EXPECT_EQ(kLayout.limit("alice"), "penstock:1:l:{alice}");
  EXPECT_EQ(kLayout.limit("user:42", "per-second"), "penstock:1:l:{user:42}:per-second");
  EXPECT_EQ(kLayout.escrow("alice"), "penstock:1:e:{alice}");
  EXPECT_EQ(kLayout.escrow("user:42", "per-second"), "penstock:1:e:{user:42}:per-second");
  EXPECT_EQ(kLayout.changes(), "penstock:1:changed");
  EXPECT_EQ(kLayout.counter("downloads"), "penstock:1:c:{downloads}");
  EXPECT_EQ(kLayout.decimal_counter("spent"), "penstock:1:d:{spent}");
  EXPECT_EQ(kLayout.nodes(), "penstock:1:n:{nodes}");
  EXPECT_EQ(kLayout.node_summaries(), "penstock:1:n:{nodes}:summaries");
  EXPECT_EQ(kLayout.node_histories(), "penstock:1:n:{nodes}:histories");
  EXPECT_EQ(kLayout.nodes_watched(), "penstock:1:n:{nodes}:watched");
  EXPECT_EQ(kLayout.audit(), "penstock:1:a:{audit}");
  EXPECT_EQ(kLayout.reservations(), "penstock:1:r:{reservations}");
  EXPECT_EQ(kLayout.reservation("a b"), "penstock:1:r:{reservations}:a%20b");
  EXPECT_EQ(kLayout.permits("uploads"), "penstock:1:s:{uploads}");
  EXPECT_EQ(KeyLayout("mine").limit("a"), "mine:1:l:{a}");
}

TEST(KeyLayout, EscapesSpecialBytes) {
  EXPECT_EQ(kLayout.limit("a}b{c%d#e f"), "penstock:1:l:{a%7db%7bc%25d%23e%20f}");
  EXPECT_EQ(kLayout.limit(""), "penstock:1:l:{%}");
  EXPECT_EQ(kLayout.limit("na\xc3\xafve"), "penstock:1:l:{na\xc3\xafve}");
}

TEST(KeyLayout, HashesLongSubjects) {
  const std::string longest(KeyLayout::kMaxPartLength, 'x');
  EXPECT_EQ(kLayout.limit(longest), "penstock:1:l:{" + longest + "}");
  const std::string key = kLayout.limit(longest + "x");
  EXPECT_EQ(key.size(), std::string("penstock:1:l:{}").size() + 33);
  EXPECT_NE(key, kLayout.limit(longest + "y"));
  EXPECT_NE(kLayout.limit(key.substr(14, 33)), key);  // a subject cannot equal a hash
}

TEST(KeyLayout, HashesSubjectsThatAreLongWhenEscaped) {
  const std::string longest(KeyLayout::kMaxPartLength / 3, ' ');
  EXPECT_EQ(kLayout.limit(longest, "day").find('#'), std::string::npos);
  const std::string key = kLayout.limit(longest + " ", "day");
  EXPECT_TRUE(key.starts_with("penstock:1:l:{#"));
  EXPECT_EQ(key.size(), std::string("penstock:1:l:{}:day").size() + 33);
}

TEST(KeyLayout, KeepsAllOfOneSubjectInOneSlot) {
  for (const std::string subject : {"alice", "", "a}b", "{}"}) {
    EXPECT_EQ(redis::hash_slot(kLayout.limit(subject)),
              redis::hash_slot(kLayout.limit(subject, "per-day")));
    EXPECT_EQ(redis::hash_slot(kLayout.limit(subject)),
              redis::hash_slot(kLayout.escrow(subject, "per-day")));
    EXPECT_EQ(redis::hash_slot(kLayout.counter(subject)),
              redis::hash_slot(kLayout.decimal_counter(subject)));
  }
}

RC_GTEST_PROP(KeyLayout, GivesEveryPairAKeyOfItsOwnThatCanBeReadBack,
              (const std::string& subject, const std::string& name)) {
  RC_PRE(subject.size() <= 60 && name.size() <= 60);  // not hashed, however much is escaped
  const auto plain = read_key(kLayout.limit(subject), kLayout);
  RC_ASSERT(plain.has_value());
  RC_ASSERT(plain->subject == subject);
  const auto named = read_key(kLayout.limit(subject, name), kLayout);
  RC_ASSERT(named.has_value());
  RC_ASSERT(named->subject == subject);
  RC_ASSERT(named->limit_name == name);
  RC_ASSERT(kLayout.limit(subject) != kLayout.limit(subject, name));
  const auto escrow = read_key(kLayout.escrow(subject, name), kLayout);
  RC_ASSERT(escrow.has_value());
  RC_ASSERT(escrow->kind == KeyKind::Escrow);
  RC_ASSERT(escrow->subject == subject);
  RC_ASSERT(escrow->limit_name == name);
}

TEST(ReadKey, ParsesTheNodes) {
  const auto name = read_key(kLayout.nodes(), kLayout);
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->kind, KeyKind::Nodes);
}

TEST(ReadKey, ParsesTheAudit) {
  const auto name = read_key(kLayout.audit(), kLayout);
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->kind, KeyKind::Audit);
}

TEST(ReadKey, ParsesReservationsAndPermits) {
  const auto open = read_key(kLayout.reservations(), kLayout);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->kind, KeyKind::Reservation);
  EXPECT_EQ(open->limit_name, "");
  EXPECT_EQ(read_key(kLayout.reservation("4 2"), kLayout)->limit_name, "4 2");
  const auto permits = read_key(kLayout.permits("up}"), kLayout);
  ASSERT_TRUE(permits.has_value());
  EXPECT_EQ(permits->kind, KeyKind::Permits);
  EXPECT_EQ(permits->subject, "up}");
}

TEST(ReadKey, ParsesOverridesAndActions) {
  EXPECT_EQ(kLayout.overrides(), "penstock:1:o:{operators}:overrides");
  for (const std::string& key : {kLayout.overrides(), kLayout.actions()}) {
    const auto name = read_key(key, kLayout);
    ASSERT_TRUE(name.has_value()) << key;
    EXPECT_EQ(name->kind, KeyKind::Operators);
    EXPECT_EQ("penstock:1:o:{operators}:" + name->limit_name, key);
  }
}

TEST(ReadKey, RejectsForeignKeys) {
  for (const char* key : {"",
                          "other:1:l:{a}",
                          "penstock:2:l:{a}",
                          "penstock:1:x:{a}",
                          "penstock:1:l:a",
                          "penstock:1:l:{a",
                          "penstock:1:l:{a}b",
                          "penstock:1:c:{a}:b",
                          "penstock:1:n:{a}",
                          "penstock:1:n:{nodes}:b",
                          "penstock:1:a:{a}",
                          "penstock:1:r:{a}",
                          "penstock:1:s:{a}:b",
                          "penstock:1:o:{operators}",
                          "penstock:1:o:{operators}:b",
                          "penstock:1:o:{a}:actions",
                          "penstock:1:l:{%4}",
                          "penstock:1:l:{%zz}",
                          "penstock:1:l:{a:{b}",
                          "penstock:1:l:{%41}"}) {
    EXPECT_FALSE(read_key(key, kLayout)) << key;
  }
}

}  // namespace
}  // namespace penstock::redis_store
