#include "chaos/workers.hpp"
#include "servers/sentinel_group.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::RedisServer;
using servers::SentinelGroup;

// A replica that reports its link as up may not have received anything yet.
void wait_until_replicated(SentinelGroup& group) {
  servers::Session master = group.master().session();
  servers::wait_until("a write to reach the replica", [&] {
    master.must({"SET", "replicated", "1"});
    return master.must({"WAIT", "1", "1000"}).integer == 1;
  });
}

// A killed master may have answered what its replica has not received yet; one replaced by a manual
// failover keeps answering until the sentinels demote it.
TEST(Sentinel, ManualAndAutomaticFailoversAreFollowed) {
  SentinelGroup group;
  SharedLimiter limiter = open_limiter(long_timeout_options(group.url()));
  wait_until_works(limiter);
  wait_until_replicated(group);
  {
    Workers workers(limiter, default_questions());
    workers.wait_for_decisions(300);
    const Time start = base::monotonic_now();
    group.fail_over();
    const Time recovered = base::monotonic_now();
    workers.wait_for_decisions(300);
    const Tally tally = workers.stop();
    report("SENTINEL FAILOVER", "until the sentinels agree " + text_of(recovered - start));
    report_recovery("SENTINEL FAILOVER", tally, recovered);
    expect_consistent(tally, default_questions(), limiter, kLongTimeout,
                      {start, recovered + 100ms});
  }
  group.wait_until_healthy();
  for (const Question& question : default_questions()) {
    ASSERT_TRUE(limiter.reset(question.key));
  }
  wait_until_replicated(group);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(300);
  const Time start = base::monotonic_now();
  const RedisServer& killed = group.kill_master();
  group.wait_for_master_other_than(killed.port());
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  report("master killed", "until the sentinels agree " + text_of(recovered - start));
  report_recovery("master killed, followed by a sentinel", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout, {start - 1s, start});
}

}  // namespace
}  // namespace penstock::chaos
