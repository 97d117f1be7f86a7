#include "redis_store/batch/batcher.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace penstock::redis_store {

Batcher::Batcher(const boost::asio::any_io_executor& executor, redis::Client& client,
                 const ScriptSet& scripts)
    : executor_(executor),
      client_(&client),
      scripts_(scripts),
      queue_(client.is_cluster() ? CheckQueue::Spread::BySlot : CheckQueue::Spread::OneServer),
      expiry_timer_(executor) {}

void Batcher::add(WaitingRequest&& request) {
  queue_.add(std::move(request));
  if (queue_.has_ready()) flush_soon();
  expire_later();
}

void Batcher::flush_soon() {
  if (flush_posted_ || flushes_at_return_ || client_ == nullptr) return;
  flush_posted_ = true;
  boost::asio::post(executor_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->send_ready();
  });
}

void Batcher::at_once(const std::function<void()>& questions) {
  const std::shared_ptr<Batcher> self = shared_from_this();  // an answer may destroy the store
  flushes_at_return_ = true;
  questions();
  flushes_at_return_ = false;
  send_ready();
}

void Batcher::send_ready() {
  if (client_ == nullptr || !queue_.has_ready()) return;
  for (Batch& batch : queue_.take(base::monotonic_now())) send(std::move(batch));
  expire_later();
}

void Batcher::send(Batch batch) {
  if (client_ == nullptr) return;  // fail_all() answers its requests
  auto call = std::make_unique<BatchCall>(scripts_, std::move(batch), weak_from_this());
  redis::Command command = call->command();
  client_->send(std::move(command), std::move(call));
}

void Batcher::finish(Lane& lane) {
  queue_.finish(lane);
  if (queue_.has_ready()) flush_soon();
}

void Batcher::expire_later() {
  const base::Deadline next = std::max(queue_.next_expiry(), expired_ + base::kDeadlineResolution);
  if (next >= expires_at_ || client_ == nullptr) return;
  expires_at_ = next;
  expiry_timer_.expires_at(next);
  expiry_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
    if (failed) return;
    self->expires_at_ = base::Deadline::max();
    self->expired_ = base::monotonic_now();
    self->queue_.expire(self->expired_);
    self->expire_later();
  });
}

void Batcher::close() {
  client_ = nullptr;
  expiry_timer_.cancel();
}

}  // namespace penstock::redis_store
