#include "redis_store/batch/batch_call.hpp"

#include "redis_store/replay/state_codec.hpp"

#include <gtest/gtest.h>

#include <list>
#include <string>
#include <vector>

namespace penstock::redis_store {
namespace {

constexpr Quota kUser = per_minute(2);
constexpr Quota kPath = per_hour(3);

resp::Value text(std::string bytes) {
  resp::Value value;
  value.type = resp::Value::Type::String;
  value.text = std::move(bytes);
  return value;
}

resp::Value number(std::int64_t integer) {
  resp::Value value;
  value.type = resp::Value::Type::Integer;
  value.integer = integer;
  return value;
}

resp::Value array(std::vector<resp::Value> elements) {
  resp::Value value;
  value.type = resp::Value::Type::Array;
  value.elements = std::move(elements);
  return value;
}

resp::Value nothing() {
  resp::Value value;
  value.type = resp::Value::Type::Nil;
  return value;
}

// Requests under two limits, by the names of their keys.
struct BatchCallTest : ::testing::Test {
  using Keys = std::pair<std::string, std::string>;

  struct Owner : BatchOwner {
    void send(Batch batch) override { sent.push_back(std::move(batch)); }
    void finish(Lane& lane) override { finished.push_back(&lane); }
    void on_time(Instant now) override { times.push_back(now); }

    std::vector<Batch> sent;
    std::vector<Lane*> finished;
    std::vector<Instant> times;
  };

  BatchCall call(const std::vector<Keys>& requests) {
    Batch batch{.kind = CallKind::Buckets};
    for (const auto& [user, path] : requests) {
      Lane& lane = lanes.emplace_back();
      lane.slot = 7;
      lane.asked.push_back({.request = {.checks = {{.key = user, .quota = kUser, .cost = Cost{1}},
                                                   {.key = path, .quota = kPath, .cost = Cost{1}}}},
                            .decided = [this, who = user + "+" + path](const auto& said) {
                              if (!said) return heard.push_back(who + ": " + said.error().detail);
                              const bool passed = said->at(0).allowed() && said->at(1).allowed();
                              heard.push_back(who + (passed ? ": passed " : ": denied ") +
                                              std::to_string(said->at(0).remaining()) + " " +
                                              std::to_string(said->at(1).remaining()));
                            }});
      batch.lanes.push_back(&lane);
    }
    return {scripts(), std::move(batch), owner};
  }
  // The first keys of lanes that were sent again, with decide.lua.
  [[nodiscard]] std::vector<std::string> again() const {
    std::vector<std::string> keys;
    for (const Batch& batch : owner->sent) {
      EXPECT_EQ(batch.kind, CallKind::Decide);
      for (const Lane* lane : batch.lanes) {
        keys.push_back(lane->asked.front().request.checks.front().key);
      }
    }
    return keys;
  }

  std::list<Lane> lanes;
  std::vector<std::string> heard;
  std::shared_ptr<Owner> owner = std::make_shared<Owner>();
};

using Lines = std::vector<std::string>;

TEST_F(BatchCallTest, DecidesInOrderOnTheStatesThatTheScriptFound) {
  BatchCall asked = call({{"u", "p"}, {"u", "q"}, {"u", "r"}, {"v", "p"}});
  EXPECT_EQ(asked.command().slot, 7);
  const resp::Value none = nothing();
  asked.on_reply(array({none, none, none, none, none, number(1'000'000)}));  // u p q r v
  EXPECT_EQ(heard,
            (Lines{"u+p: passed 1 2", "u+q: passed 0 2", "u+r: denied 0 3", "v+p: passed 1 1"}));
  EXPECT_EQ(again(), Lines{});
  EXPECT_EQ(owner->finished.size(), 4U);
  EXPECT_EQ(owner->times, std::vector{Instant{std::chrono::seconds{1}}});
}

TEST_F(BatchCallTest, SendsARequestAgainWhenItsKeyIsUnderAnotherLimitToo) {
  BatchCall asked = call({{"u", "p"}, {"p", "q"}, {"u", "p"}});
  static_cast<void>(asked.command());
  asked.on_reply(array({nothing(), nothing(), number(1'000'000)}));
  EXPECT_EQ(heard, (Lines{"u+p: passed 1 2", "u+p: passed 0 1"}));
  EXPECT_EQ(again(), Lines{"p"});
}

TEST_F(BatchCallTest, SendsARequestAgainWhenTheScriptSkippedItsState) {
  BatchCall asked = call({{"u", "p"}, {"v", "p"}});
  static_cast<void>(asked.command());
  const std::string other = std::string(view(header_of(per_minute(3)))) + std::string(24, '\0');
  asked.on_reply(array({text(other), nothing(), nothing(), number(1'000'000)}));
  EXPECT_EQ(heard, Lines{"v+p: passed 1 2"});  // the first charged nothing to p
  EXPECT_EQ(again(), Lines{"u"});
}

TEST_F(BatchCallTest, AMalformedReplyFailsAllRequests) {
  for (const resp::Value& reply :
       {array({nothing(), number(1)}), array({nothing(), nothing(), text("soon")}), number(3)}) {
    heard.clear();
    BatchCall asked = call({{"u", "p"}, {"u", "p"}});
    static_cast<void>(asked.command());
    asked.on_reply(reply);
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_NE(heard[1].find("malformed reply from a script"), std::string::npos) << heard[1];
    lanes.clear();
  }
}

TEST_F(BatchCallTest, AnErrorFailsAllRequests) {
  BatchCall asked = call({{"u", "p"}, {"v", "p"}});
  static_cast<void>(asked.command());
  asked.on_reply(Error{ErrorCode::Timeout, "no answer"});
  EXPECT_EQ(heard, (Lines{"u+p: no answer", "v+p: no answer"}));
}

TEST_F(BatchCallTest, IsSplitIntoItsRequestsOnce) {
  BatchCall several = call({{"u", "p"}, {"v", "p"}});
  static_cast<void>(several.command());
  EXPECT_TRUE(several.split());
  ASSERT_EQ(owner->sent.size(), 2U);
  EXPECT_EQ(owner->sent[1].kind, CallKind::Buckets);
  EXPECT_EQ(owner->sent[1].lanes, (std::vector{&lanes.back()}));
  BatchCall one = call({{"u", "p"}});
  EXPECT_FALSE(one.split());
}

}  // namespace
}  // namespace penstock::redis_store
