#include "redis/node.hpp"

#include "redis/connection.hpp"
#include "resp/command.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace penstock::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Reports its reply to the breaker only.
class ProbeCall : public Call {
 public:
  void on_reply(Result<resp::Value> /*reply*/) override {}
};

std::string milliseconds_text(base::Deadline::duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

asio::awaitable<Result<Endpoint>> FixedLocator::locate() { co_return endpoint_; }

Node::Node(asio::any_io_executor executor, NodeId id, std::shared_ptr<const NodeSettings> settings,
           std::shared_ptr<Locator> locator, std::weak_ptr<NodeOwner> owner)
    : executor_(std::move(executor)),
      id_(id),
      settings_(std::move(settings)),
      locator_(std::move(locator)),
      owner_(std::move(owner)),
      address_(locator_->name()),
      backoff_(settings_->options.reconnect_min_pause, settings_->options.reconnect_max_pause),
      pause_timer_(executor_),
      breaker_(settings_->options.breaker_failures, settings_->options.breaker_min_pause,
               settings_->options.breaker_max_pause),
      timer_(executor_),
      random_(std::random_device{}()) {}

void Node::start() {
  if (started_ || stopped_) return;
  started_ = true;
  spawn(executor_, run(shared_from_this()));
}

void Node::reload() {
  const Options& options = settings_->options;
  breaker_.reconfigure(options.breaker_failures, options.breaker_min_pause,
                       options.breaker_max_pause);
}

std::vector<PendingPtr> Node::stop() {
  stopped_ = true;
  timer_.cancel();
  pause_timer_.cancel();
  if (attempt_ != nullptr) attempt_->close("stopped");
  if (connection_ != nullptr) connection_->close("stopped");
  connection_.reset();
  std::vector<PendingPtr> left;
  for (PendingPtr& pending : queue_.take_in_flight()) left.push_back(std::move(pending));
  for (PendingPtr& pending : queue_.take_waiting()) left.push_back(std::move(pending));
  return left;
}

std::optional<Error> Node::submit(PendingPtr& pending) {
  start();
  if (const Error* const why = fail_fast_error()) return *why;
  if (queue_.size() >= settings_->options.max_in_flight) {
    return Error{ErrorCode::Overloaded, address_ + ": too many commands are waiting"};
  }
  queue_.push(std::move(pending));
  arm_timer(queue_.next_deadline());
  schedule_flush();
  connect_soon();
  return std::nullopt;
}

std::string Node::unavailable_reason() const {
  if (failure_) return failure_->detail;
  if (!breaker_.lets_through()) return breaker_error_.detail;
  return !started_ || connection_ != nullptr ? std::string{} : address_ + ": not connected";
}

const Error* Node::fail_fast_error() const noexcept {
  if (failure_) return &*failure_;
  return breaker_.lets_through() ? nullptr : &breaker_error_;
}

void Node::reconnect(std::string_view why) {
  if (connection_ == nullptr) {
    pause_until_ = Time{};
    pause_timer_.cancel();
    return;
  }
  if (draining_) return;
  draining_ = true;
  drain_reason_ = why;
  if (!queue_.has_in_flight()) connection_->close(drain_reason_);
}

asio::awaitable<void> Node::run(std::shared_ptr<Node> self) {
  while (!self->stopped_) {
    Result<std::shared_ptr<Connection>> made = co_await self->connect();
    self->attempt_.reset();
    if (self->stopped_) break;
    if (!made) {
      self->on_connect_failed(made.error());
      if (self->stop_if_unused()) break;
      const Time::duration wait = self->backoff_.next(self->random());
      co_await self->pause(wait);
      continue;
    }
    self->on_connected(*made);
    const Error why = co_await self->serve(*made);
    (*made)->close(why.detail);
    if (self->stopped_) break;
    self->on_connection_lost(why);
    if (self->stop_if_unused()) break;
    const Time::duration wait = self->pause_after_loss();
    if (wait > Time::duration::zero()) {
      co_await self->pause(wait);
    }
  }
}

// A connection that served replies is reopened at once: its loss says nothing about the server. One
// without a reply counts as a failed attempt. In both cases attempts are at least
// reconnect_min_pause apart.
Node::Time::duration Node::pause_after_loss() {
  const Options& options = settings_->options;
  const Time::duration lasted = base::monotonic_now() - connected_at_;
  if (!has_answered_ && lasted <= options.reconnect_max_pause) return backoff_.next(random());
  backoff_.reset();
  return options.reconnect_min_pause - lasted;
}

void Node::connect_soon() {
  const Time at = connected_at_ + settings_->options.reconnect_min_pause;
  if (connection_ != nullptr || at >= pause_until_) return;
  pause_until_ = at;
  pause_timer_.cancel();
}

asio::awaitable<void> Node::pause(Time::duration time) {
  pause_until_ = base::deadline_after(time);
  while (!stopped_ && base::monotonic_now() < pause_until_) {
    pause_timer_.expires_at(pause_until_);
    // run() continues in either case.
    static_cast<void>(co_await pause_timer_.async_wait(kIo));
  }
  pause_until_ = Time{};
}

asio::awaitable<Result<std::shared_ptr<Connection>>> Node::connect() {
  if (!settings_->tls) co_return settings_->tls.error();
  Result<Endpoint> where = co_await locator_->locate();
  if (!where) co_return where.error();
  if (stopped_) co_return Error{ErrorCode::Unavailable, "stopped"};
  address_ = to_string(*where);
  auto connection = std::make_shared<Connection>(executor_, *settings_->tls);
  attempt_ = connection;
  connection->close_after(settings_->options.connect_timeout);
  Result<void> done = co_await connection->open(*std::move(where));
  if (done) {
    Handshake handshake(settings_->login, settings_->role, settings_->scripts);
    done = co_await run_handshake(connection, std::move(handshake));
  }
  if (done) {
    connection->stay_open();
    co_return connection;
  }
  Error why = done.error();
  connection->close(why.detail);
  if (why.code != ErrorCode::Misconfigured) why.code = ErrorCode::Unavailable;
  why.detail.insert(0, address_ + ": ");
  co_return why;
}

void Node::on_connected(std::shared_ptr<Connection> connection) {
  const std::shared_ptr<NodeOwner> owner = owner_.lock();
  if (owner == nullptr) return;
  connection_ = std::move(connection);
  failure_.reset();
  writing_ = false;
  draining_ = false;
  has_answered_ = false;
  connected_at_ = base::monotonic_now();
  last_received_ = connected_at_;
  report_event(*owner, RedisEvent::Kind::Connected, address_ + ": connected");
  // a connection after one that answered nothing may do the same: the breaker counts it
  if (!lost_unanswered_ || !breaker_.lets_through()) count_success(*owner);
  owner->on_fail_fast_changed(*this);
  owner->on_connected(*this);
  schedule_flush();
}

void Node::on_connect_failed(Error why) {
  const std::shared_ptr<NodeOwner> owner = owner_.lock();
  if (owner == nullptr) return;
  report_event(*owner, RedisEvent::Kind::ConnectFailed, why.detail);
  failure_ = std::move(why);
  count_failure(*owner, base::monotonic_now());
  owner->on_fail_fast_changed(*this);
  for (PendingPtr& pending : queue_.take_waiting()) {
    owner->on_unsent(*this, std::move(pending), *failure_);
  }
  owner->on_unavailable(*this);
}

void Node::on_connection_lost(const Error& why) {
  const std::shared_ptr<NodeOwner> owner = owner_.lock();
  if (owner == nullptr) return;
  connection_.reset();
  const Error lost{ErrorCode::ConnectionLost, address_ + ": connection lost: " + why.detail};
  report_event(*owner, RedisEvent::Kind::ConnectionLost, lost.detail);
  std::deque<PendingPtr> in_flight = queue_.take_in_flight();
  lost_unanswered_ = !in_flight.empty() && !has_answered_;
  if (!in_flight.empty()) count_failure(*owner, base::monotonic_now());
  for (PendingPtr& pending : in_flight) {
    if (pending->call != nullptr) owner->on_lost(*this, std::move(pending->call), lost);
  }
}

bool Node::stop_if_unused() {
  const std::shared_ptr<NodeOwner> owner = owner_.lock();
  if (owner == nullptr) return true;
  if (owner->wants_connection(*this)) return false;
  started_ = false;
  failure_.reset();
  owner->on_fail_fast_changed(*this);
  const Error why{ErrorCode::Unavailable, address_ + ": no longer a master"};
  for (PendingPtr& pending : queue_.take_waiting()) {
    owner->on_unsent(*this, std::move(pending), why);
  }
  return true;
}

// Reports each event once, not its repetitions.
void Node::report_event(NodeOwner& owner, RedisEvent::Kind kind, std::string text) {
  if (text == last_event_) return;
  owner.on_event({.kind = kind, .text = text});
  last_event_ = std::move(text);
}

asio::awaitable<Error> Node::serve(std::shared_ptr<Connection> connection) {
  while (true) {
    const Result<void> received = co_await connection->receive();
    if (!received) co_return received.error();
    last_received_ = base::monotonic_now();
    const Result<void> taken = take_replies(*connection);
    if (!taken) co_return taken.error();
  }
}

Result<void> Node::take_replies(Connection& connection) {
  const std::shared_ptr<NodeOwner> owner = owner_.lock();
  while (owner != nullptr && !stopped_) {
    Result<std::optional<resp::Value>> reply = connection.next();
    if (!reply) return reply.error();
    if (!reply->has_value()) break;
    if (!queue_.has_in_flight()) {
      return Error{ErrorCode::Protocol, "a reply without a command"};
    }
    PendingPtr pending = queue_.pop_answered();
    has_answered_ = true;
    if (pending->call == nullptr) continue;
    count_success(*owner);
    owner->on_reply(*this, std::move(pending), **std::move(reply));
  }
  if (draining_ && !queue_.has_in_flight()) connection.close(drain_reason_);
  return {};
}

void Node::schedule_flush() {
  if (flush_posted_ || writing_ || draining_ || connection_ == nullptr) return;
  flush_posted_ = true;
  asio::post(executor_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void Node::flush() {
  if (stopped_ || writing_ || draining_ || connection_ == nullptr || !queue_.has_waiting()) return;
  queue_.write_to(connection_->out());
  writing_ = true;
  connection_->start_write(
      [self = shared_from_this(), connection = connection_.get()](const error_code& failed) {
        if (self->connection_.get() != connection) return;
        self->writing_ = false;
        if (failed) {
          connection->close(failed.message());  // serve() sees it and ends
        } else {
          self->flush();
        }
      });
}

Node::Time Node::next_event() const {
  Time next = queue_.next_deadline();
  if (connection_ == nullptr) return next;
  if (breaker_.state() == CircuitBreaker::State::Open) next = std::min(next, breaker_.probe_at());
  return std::min(next, queue_.stuck_at(last_received_));
}

void Node::arm_timer(Time at) {
  at = std::max(at, last_expiry_ + base::kDeadlineResolution);
  if (at >= armed_at_ || at == Time::max()) return;
  armed_at_ = at;
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this()](const error_code& failed) {
    if (!failed) self->on_timer();
  });
}

void Node::on_timer() {
  const std::shared_ptr<NodeOwner> owner = owner_.lock();
  if (stopped_ || owner == nullptr) return;
  const Time now = std::max(base::monotonic_now(), armed_at_ == Time::max() ? Time{} : armed_at_);
  armed_at_ = Time::max();
  last_expiry_ = now;
  PendingQueue::Expired expired = queue_.expire(now);
  for (PendingQueue::Expired::Late& late : expired.in_flight) {
    count_failure(*owner, now);
    const std::string detail = address_ + ": no reply within " + milliseconds_text(late.budget);
    owner->on_lost(*this, std::move(late.call), {ErrorCode::Timeout, detail});
  }
  for (PendingPtr& pending : expired.waiting) {
    const std::string why =
        connection_ == nullptr ? ": not connected in time" : ": not sent in time";
    owner->on_unsent(*this, std::move(pending), {ErrorCode::Unavailable, address_ + why});
  }
  if (connection_ != nullptr) {
    if (breaker_.start_probe(now)) send_probe(now);
    if (queue_.stuck_at(last_received_) <= now) {
      connection_->close("nothing received for " + milliseconds_text(now - last_received_));
    }
  }
  arm_timer(next_event());
}

void Node::send_probe(Time now) {
  auto probe = std::make_unique<Pending>();
  probe->command.bytes = resp::command({"PING"});
  probe->command.deadline = now + settings_->options.probe_timeout;
  probe->call = std::make_unique<ProbeCall>();
  probe->since = now;
  queue_.push(std::move(probe));
  schedule_flush();
}

void Node::count_failure(NodeOwner& owner, Time now) {
  if (breaker_.on_failure(now, random()) != CircuitBreaker::Change::Opened) return;
  breaker_error_ = {ErrorCode::Unavailable, address_ + ": not called, the circuit breaker is open"};
  owner.on_fail_fast_changed(*this);
  report_event(owner, RedisEvent::Kind::BreakerOpened, address_ + ": breaker open");
  owner.on_unavailable(*this);
}

void Node::count_success(NodeOwner& owner) {
  if (breaker_.on_success() != CircuitBreaker::Change::Closed) return;
  owner.on_fail_fast_changed(*this);
  report_event(owner, RedisEvent::Kind::BreakerClosed, address_ + ": breaker closed");
}

}  // namespace penstock::redis
