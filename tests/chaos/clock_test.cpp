#include "chaos/workers.hpp"
#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "redis_store/requests.hpp"
#include "servers/redis_server.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::RedisServer;

// A store on a server with a clock that the test sets through a key.
class ClockStore {
 public:
  explicit ClockStore(const RedisServer& server) : server_(server) { store_.start(); }

  bool takes_at(Duration time, const Quota& quota) {
    server_.must({"SET", "clock", std::to_string(time.count())});
    decision_.reset();
    store_.check({.checks = {{.key = layout_.limit("key"), .quota = quota, .cost = {}}}},
                 base::deadline_after(5s), [this](const Result<std::vector<Decision>>& said) {
                   decision_ = said ? Result(said->front()) : Result<Decision>(said.error());
                 });
    while (!decision_) io_.run_one();
    EXPECT_TRUE(*decision_) << text_of(*decision_);
    return *decision_ && (*decision_)->allowed();
  }

 private:
  const RedisServer& server_;
  boost::asio::io_context io_;
  redis_store::KeyLayout layout_{"penstock"};
  redis_store::ScriptSet scripts_{"local now = tonumber(redis.call('GET', 'clock'))\n"};
  std::optional<Result<Decision>> decision_;
  redis_store::CommandExecutor store_{
      io_.get_executor(), redis_store::client_options(long_timeout_options(server_.url())).value(),
      16, scripts_};
};

TEST(Clock, ATokenBucketIsNotRefilledTwiceByAClockThatStepsBack) {
  // Later than the machine's clock, which Redis uses to expire keys.
  constexpr Duration kNow = std::chrono::hours{24 * 365 * 130};
  constexpr Quota kTen = per(10, 10s);
  const RedisServer server;
  ClockStore store(server);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(store.takes_at(kNow, kTen));
  EXPECT_FALSE(store.takes_at(kNow, kTen));
  EXPECT_FALSE(store.takes_at(kNow - 3s, kTen));
  EXPECT_FALSE(store.takes_at(kNow, kTen));
  EXPECT_TRUE(store.takes_at(kNow + 1s, kTen));
  EXPECT_FALSE(store.takes_at(kNow + 1s, kTen));
  EXPECT_FALSE(store.takes_at(kNow - 2s, kTen));
  EXPECT_FALSE(store.takes_at(kNow + 1s, kTen));
  EXPECT_TRUE(store.takes_at(kNow + 2s, kTen));
  EXPECT_FALSE(store.takes_at(kNow + 2s, kTen));
}

}  // namespace
}  // namespace penstock::chaos
