#include "redis_store/batch/multi_check_batch_call.hpp"

#include <gtest/gtest.h>

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
struct MultiCheckBatchCallTest : ::testing::Test {
  using Keys = std::pair<std::string, std::string>;

  MultiCheckBatchCall call(const std::vector<Keys>& requests) {
    MultiCheckBatch batch{.kind = CallKind::Buckets, .slot = 7, .requests = {}};
    for (const auto& [user, path] : requests) {
      batch.requests.push_back(
          {.request = {.checks = {{.key = user, .quota = kUser, .cost = Cost{1}},
                                  {.key = path, .quota = kPath, .cost = Cost{1}}},
                       .guard = {}},
           .deadline = {},
           .decided = [this, who = user + "+" + path](const auto& said) {
             if (!said) return heard.push_back(who + ": " + said.error().detail);
             const bool passed = said->at(0).allowed() && said->at(1).allowed();
             heard.push_back(who + (passed ? ": passed " : ": denied ") +
                             std::to_string(said->at(0).remaining()) + " " +
                             std::to_string(said->at(1).remaining()));
           }});
    }
    return {scripts(),
            std::move(batch),
            {.send = [this](MultiCheckBatch sent) { apart.push_back(std::move(sent)); },
             .ask_alone =
                 [this](const WaitingRequest& waiting) {
                   alone.push_back(waiting.request.checks.front().key);
                 }}};
  }

  std::vector<std::string> heard;
  std::vector<std::string> alone;
  std::vector<MultiCheckBatch> apart;
};

using Lines = std::vector<std::string>;

TEST_F(MultiCheckBatchCallTest, DecidesInOrderOnTheStatesThatTheScriptFound) {
  MultiCheckBatchCall asked = call({{"u", "p"}, {"u", "q"}, {"u", "r"}, {"v", "p"}});
  EXPECT_EQ(asked.command().slot, 7);
  const resp::Value none = nothing();
  asked.on_reply(array({none, none, none, none, none, number(1'000'000)}));  // u p q r v
  EXPECT_EQ(heard,
            (Lines{"u+p: passed 1 2", "u+q: passed 0 2", "u+r: denied 0 3", "v+p: passed 1 1"}));
  EXPECT_EQ(alone, Lines{});
}

TEST_F(MultiCheckBatchCallTest, SendsARequestAloneWhenItsKeyIsUnderAnotherLimitToo) {
  MultiCheckBatchCall asked = call({{"u", "p"}, {"p", "q"}, {"u", "p"}});
  static_cast<void>(asked.command());
  asked.on_reply(array({nothing(), nothing(), number(1'000'000)}));
  EXPECT_EQ(heard, (Lines{"u+p: passed 1 2", "u+p: passed 0 1"}));
  EXPECT_EQ(alone, Lines{"p"});
}

TEST_F(MultiCheckBatchCallTest, SendsARequestAloneWhenTheScriptSkippedItsState) {
  MultiCheckBatchCall asked = call({{"u", "p"}, {"v", "p"}});
  static_cast<void>(asked.command());
  const std::string other = std::string(view(header_of(per_minute(3)))) + std::string(24, '\0');
  asked.on_reply(array({text(other), nothing(), nothing(), number(1'000'000)}));
  EXPECT_EQ(heard, Lines{"v+p: passed 1 2"});  // the first charged nothing to p
  EXPECT_EQ(alone, Lines{"u"});
}

TEST_F(MultiCheckBatchCallTest, AMalformedReplyFailsAllRequests) {
  for (const resp::Value& reply :
       {array({nothing(), number(1)}), array({nothing(), nothing(), text("soon")}), number(3)}) {
    heard.clear();
    MultiCheckBatchCall asked = call({{"u", "p"}, {"u", "p"}});
    static_cast<void>(asked.command());
    asked.on_reply(reply);
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_NE(heard[1].find("malformed reply from a script"), std::string::npos) << heard[1];
  }
}

TEST_F(MultiCheckBatchCallTest, AnErrorFailsAllRequests) {
  MultiCheckBatchCall asked = call({{"u", "p"}, {"v", "p"}});
  static_cast<void>(asked.command());
  asked.on_reply(Error{ErrorCode::Timeout, "no answer"});
  EXPECT_EQ(heard, (Lines{"u+p: no answer", "v+p: no answer"}));
}

TEST_F(MultiCheckBatchCallTest, IsSplitIntoItsRequestsOnce) {
  MultiCheckBatchCall several = call({{"u", "p"}, {"v", "p"}});
  static_cast<void>(several.command());
  EXPECT_TRUE(several.split());
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(apart[1].requests.front().request.checks.front().key, "v");
  EXPECT_EQ(apart[1].slot, 7);
  MultiCheckBatchCall one = call({{"u", "p"}});
  EXPECT_FALSE(one.split());
}

}  // namespace
}  // namespace penstock::redis_store
