#include "net/event.hpp"

#include "net/asio_types.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <memory>

namespace penstock::net {
namespace {

Awaitable<void> wait_twice(Event& event, std::shared_ptr<int> resumed) {
  co_await event.wait();
  ++*resumed;
  co_await event.wait();
  ++*resumed;
}

class EventTest : public testing::Test {
 protected:
  void start() {
    spawn(loop.get_executor(), wait_twice(event, resumed));
    loop.poll();
  }

  boost::asio::io_context loop;
  std::shared_ptr<int> resumed = std::make_shared<int>(0);
  Event event;
};

TEST_F(EventTest, WakingWithoutAWaiterDoesNothing) {
  event.wake();
  event.wake_later();
  EXPECT_FALSE(event.has_waiter());
  start();
  EXPECT_TRUE(event.has_waiter());
  EXPECT_EQ(*resumed, 0);
}

TEST_F(EventTest, WakeResumesTheWaiterAtOnce) {
  start();
  event.wake();
  EXPECT_EQ(*resumed, 1);
  event.wake();
  EXPECT_EQ(*resumed, 2);
  EXPECT_FALSE(event.has_waiter());
}

TEST_F(EventTest, WakeLaterResumesTheWaiterFromTheEventLoop) {
  start();
  event.wake_later();
  EXPECT_EQ(*resumed, 0);
  loop.restart();
  loop.poll();
  EXPECT_EQ(*resumed, 1);
  event.drop_waiter();
}

TEST_F(EventTest, ADroppedWaiterIsDestroyed) {
  start();
  EXPECT_EQ(resumed.use_count(), 2);
  event.drop_waiter();
  loop.restart();
  loop.poll();  // Asio destroys coroutines from the event loop
  EXPECT_EQ(resumed.use_count(), 1);
  EXPECT_EQ(*resumed, 0);
}

TEST(Event, AWaiterThatWasWokenLaterIsDestroyedWithTheEventLoop) {
  Event event;
  const auto resumed = std::make_shared<int>(0);
  {
    boost::asio::io_context loop;
    spawn(loop.get_executor(), wait_twice(event, resumed));
    loop.poll();
    event.wake_later();
  }
  EXPECT_EQ(*resumed, 0);
  EXPECT_EQ(resumed.use_count(), 1);
}

}  // namespace
}  // namespace penstock::net
