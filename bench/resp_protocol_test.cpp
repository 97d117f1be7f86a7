#include "bench/resp_protocol.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::bench {
namespace {

using Outcome = Completion::Outcome;

TEST(RespProtocol, WritesTheCommandAsClientsDo) {
  std::string out;
  append_throttle(out, "user:1", {.max_burst = 15, .count = 30, .seconds = 60});
  EXPECT_EQ(out,
            "*5\r\n$11\r\nCL.THROTTLE\r\n$6\r\nuser:1\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n");
}

TEST(RespProtocol, TakesTheLimitFromABucketInWholeSeconds) {
  const Result<ThrottleLimit> limit = ThrottleLimit::of(per_minute(30).burst(16));
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->max_burst, 15);
  EXPECT_EQ(limit->count, 30);
  EXPECT_EQ(limit->seconds, 60);
  EXPECT_FALSE(ThrottleLimit::of(per_minute(30).fixed_window()));
  EXPECT_FALSE(ThrottleLimit::of(per(5, std::chrono::milliseconds{1500})));
}

TEST(RespProtocol, RejectsMalformedReplies) {
  for (const char* bytes : {"+OK\r\n", "*2\r\n:0\r\n:1\r\n", "*5\r\n:7\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
                            "*5\r\n$1\r\n0\r\n", ":0\r\n"}) {
    EXPECT_FALSE(read_throttle_reply(bytes)) << bytes;
  }
  EXPECT_FALSE(read_throttle_reply(std::string(10'000, '-')));
}

// Answers of all kinds, in one piece or in many.
RC_GTEST_PROP(RespProtocol, ReadsAnswersInTheirOrderHoweverTheyAreCut, ()) {
  const auto kinds = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
  const auto protocol = make_resp_protocol({.max_burst = 0, .count = 1, .seconds = 1});
  std::string answers;
  for (std::uint32_t i = 0; i < kinds.size(); ++i) {
    protocol->send({.at = {}, .key = i});
    switch (kinds[i]) {
      case 0: answers += "*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n"; break;
      case 1: answers += "*5\r\n:1\r\n:16\r\n:0\r\n:2\r\n:32\r\n"; break;
      default: answers += "-ERR no\r\n"; break;
    }
  }
  RC_ASSERT(protocol->in_flight() == kinds.size());
  std::vector<Completion> completed;
  for (std::string_view left = answers; !left.empty();) {
    const auto cut = *rc::gen::inRange<std::size_t>(1, left.size() + 1);
    RC_ASSERT(protocol->read(left.substr(0, cut), completed).has_value());
    left.remove_prefix(cut);
  }
  RC_ASSERT(completed.size() == kinds.size());
  RC_ASSERT(protocol->in_flight() == 0U);
  for (std::uint32_t i = 0; i < kinds.size(); ++i) {
    RC_ASSERT(completed[i].due.key == i);
    RC_ASSERT(static_cast<int>(completed[i].outcome) == kinds[i]);
    RC_ASSERT(completed[i].failure == (kinds[i] == 2 ? "ERR no" : ""));
  }
}

TEST(RespProtocol, RejectsAnUnexpectedReply) {
  const auto protocol = make_resp_protocol({.max_burst = 0, .count = 1, .seconds = 1});
  std::vector<Completion> completed;
  EXPECT_FALSE(protocol->read("*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n", completed));
}

}  // namespace
}  // namespace penstock::bench
