#pragma once

#include "redis_store/batch/batch_call.hpp"
#include "redis_store/batch/check_queue.hpp"
#include "redis_store/redis_clock.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>

namespace penstock::redis_store {

// Sends requests to Redis in batches. Requests of one tick share calls.
//
// Lifetime: handlers on the executor keep it until close(). Thread-safety: none; everything runs on
// the executor.
class Batcher final : public BatchOwner, public std::enable_shared_from_this<Batcher> {
 public:
  // REQUIRES: the client lives until close(), and the scripts outlive this.
  Batcher(const boost::asio::any_io_executor& executor, redis::Client& client,
          const ScriptSet& scripts);

  // REQUIRES: the clock lives until close().
  void report_time_to(RedisClock& clock) { clock_ = &clock; }

  // Sent at the end of this tick.
  void add(WaitingRequest&& request);
  // Requests added by `questions` are sent when it returns, which saves a turn of the event loop.
  void at_once(const std::function<void()>& questions);
  // Requests without a completed call.
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

  // Sends nothing more. The client must be destroyed next: it answers the calls in flight.
  void close();
  // Answers all requests. REQUIRES: close() was called and the client is destroyed.
  void fail_all() { queue_.fail_all(store_closed()); }

  void send(Batch batch) override;
  void finish(Lane& lane) override;
  void on_time(Instant now) override {
    if (clock_ != nullptr) clock_->on_reply(now, base::monotonic_now());
  }

 private:
  void flush_soon();
  void send_ready();
  // Schedules expire() for requests that end before the call they wait for.
  void expire_later();

  boost::asio::any_io_executor executor_;
  redis::Client* client_;  // null once it is closed
  const ScriptSet& scripts_;
  RedisClock* clock_ = nullptr;
  CheckQueue queue_;
  boost::asio::steady_timer expiry_timer_;
  base::Deadline expires_at_ = base::Deadline::max();
  base::Deadline expired_{};  // the last expiry
  bool flush_posted_ = false;
  bool flushes_at_return_ = false;
};

}  // namespace penstock::redis_store
