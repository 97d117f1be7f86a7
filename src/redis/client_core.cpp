#include "redis/client_core.hpp"

#include "redis/client.hpp"
#include "redis/server_error.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace penstock::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Step = ClusterRouter::Step;

}  // namespace

Client::Core::Core(asio::any_io_executor executor, Options options,
                   std::vector<const Script*> scripts)
    : executor_(std::move(executor)),
      settings_(node_settings(std::move(options), std::move(scripts))),
      timer_(executor_) {
  const Url& url = settings_->options.url;
  if (url.topology == Topology::Cluster) router_.emplace(url.hosts);
}

void Client::Core::start() {
  if (started_) return;
  started_ = true;
  const Url& url = options().url;
  if (router_) {
    want_map();
    return;
  }
  std::shared_ptr<Locator> locator;
  if (url.topology == Topology::Sentinel) {
    sentinels_ = std::make_shared<SentinelLocator>(executor_, settings_);
    locator = sentinels_;
  } else {
    locator = std::make_shared<FixedLocator>(
        Endpoint{.address = url.hosts.empty() ? HostPort{} : url.hosts.front(),
                 .socket_path = url.socket_path});
  }
  nodes_.push_back(
      std::make_shared<Node>(executor_, 0, settings_, std::move(locator), weak_from_this()));
  nodes_.front()->start();
  if (sentinels_ == nullptr) return;
  sentinels_->listen([weak = weak_from_this()](const HostPort& master) {
    const std::shared_ptr<Core> core = weak.lock();
    if (core == nullptr || core->stopped_) return;
    const std::string text = "sentinel: the master is now " + to_string(master);
    core->on_event({.kind = RedisEvent::Kind::MasterChanged, .text = text});
    core->nodes_.front()->reconnect("failover to " + to_string(master));
  });
}

Result<void> Client::Core::reload(Options options) {
  Result<void> reloaded = redis::reload(*settings_, std::move(options));
  if (!reloaded) return reloaded;
  for (const std::shared_ptr<Node>& node : nodes_) node->reload();
  return {};
}

void Client::Core::stop() {
  stopped_ = true;
  timer_.cancel();
  if (sentinels_ != nullptr) sentinels_->stop();
  const Error why{ErrorCode::Unavailable, "the Redis client was closed"};
  for (const std::shared_ptr<Node>& node : nodes_) {
    for (PendingPtr& pending : node->stop()) deferred_errors_.add(std::move(pending->call), why);
  }
  for (RetryQueue* const queue : {&retries_, &awaiting_map_}) {
    for (PendingPtr& pending : queue->take_due(Time::max())) {
      deferred_errors_.add(std::move(pending->call), why);
    }
  }
  deferred_errors_.deliver();
}

std::vector<NodeId> Client::Core::masters() const {
  return router_ ? router_->masters() : std::vector<NodeId>{0};
}

std::string Client::Core::address_of(NodeId node) const {
  if (router_ && node < router_->nodes().size()) return to_string(router_->nodes()[node]);
  return node < nodes_.size() ? nodes_[node]->address() : "";
}

ClientHealth Client::Core::health() const {
  if (!started_ || stopped_) return {.reason = "the Redis client is not running"};
  if (router_ && !router_->has_map()) {
    return {.reason =
                map_failure_ ? map_failure_->detail : "the cluster's slots are not known yet"};
  }
  ClientHealth health;
  for (const NodeId id : masters()) {
    // a node without a command so far counts as available
    const std::string reason =
        id < nodes_.size() ? nodes_[id]->unavailable_reason() : std::string{};
    health.serving = health.serving || reason.empty();
    const auto breaker = id < nodes_.size() ? nodes_[id]->breaker() : CircuitBreaker::State::Closed;
    if (health.breaker != CircuitBreaker::State::Open && breaker != CircuitBreaker::State::Closed) {
      health.breaker = breaker;
    }
    if (health.reason.empty()) health.reason = reason;
  }
  return health;
}

ClientStats Client::Core::stats() const noexcept {
  ClientStats stats = stats_;
  stats.fast_fails += fail_fast_->fast_fails();
  return stats;
}

void Client::Core::send(Command command, std::unique_ptr<Call> call) {
  auto pending = std::make_unique<Pending>();
  pending->command = std::move(command);
  pending->call = std::move(call);
  pending->since = base::monotonic_now();
  dispatch(std::move(pending));
}

void Client::Core::dispatch(PendingPtr pending) {
  if (!started_ || stopped_) {
    fail(std::move(pending->call), {ErrorCode::Unavailable, "the Redis client is not running"});
  } else if (router_) {
    dispatch_by_slot(std::move(pending));
  } else {
    submit(*nodes_.front(), std::move(pending));
  }
}

void Client::Core::submit(Node& node, PendingPtr pending) {
  const std::optional<Error> refused = node.submit(pending);
  if (!refused) {
    ++stats_.commands;
    return;
  }
  if (refused->code != ErrorCode::Overloaded) ++stats_.fast_fails;
  fail(std::move(pending->call), *refused);
}

void Client::Core::on_reply(Node& node, PendingPtr pending, resp::Value reply) {
  if (!reply.is(resp::Value::Type::Error)) {
    pending->call->on_reply(std::move(reply));
    return;
  }
  const ServerError error = read_server_error(reply.text);
  Error why = error_for_caller(error, reply.text);
  why.detail.insert(0, node.address() + ": ");
  if (router_ && !pending->command.node) {
    if (error.kind == ErrorKind::TryAgain && pending->call->split()) return;
    const auto action = router_->on_error(error, reply.text, node.id(), pending->attempts);
    apply_action(action, std::move(pending), std::move(why));
    return;
  }
  switch (retry_after(error, reply.text)) {
    case Retry::No: pending->call->on_reply(std::move(why)); return;
    case Retry::WithScriptText: send_with_script_text(std::move(pending), std::move(why)); return;
    case Retry::AfterReconnect: node.reconnect(reply.text); [[fallthrough]];
    case Retry::Later: send_later(std::move(pending), std::move(why)); return;
  }
}

void Client::Core::apply_action(const ClusterRouter::Action& action, PendingPtr pending,
                                Error why) {
  if (action.refresh == ClusterRouter::Refresh::Yes) want_map();
  switch (action.step) {
    case Step::Deliver: pending->call->on_reply(std::move(why)); return;
    case Step::WithScriptText: send_with_script_text(std::move(pending), std::move(why)); return;
    case Step::Resend: resend(std::move(pending)); return;
    case Step::Ask: {
      pending->ask = action.node;
      resend(std::move(pending));
      return;
    }
    case Step::Later: send_later(std::move(pending), std::move(why)); return;
  }
}

void Client::Core::on_unsent(Node& node, PendingPtr pending, Error why) {
  const bool is_late = pending->deadline() <= base::monotonic_now();
  if (is_late) ++stats_.timeouts;
  if (router_ && !pending->command.node) {
    want_map();
    const std::optional<NodeId> owner = router_->owner(pending->command.slot);
    if (!is_late && owner && *owner != node.id()) {
      resend(std::move(pending));
      return;
    }
  }
  fail(std::move(pending->call), std::move(why));
}

void Client::Core::on_lost(Node& /*node*/, std::unique_ptr<Call> call, Error why) {
  if (why.code == ErrorCode::Timeout) ++stats_.timeouts;
  fail(std::move(call), std::move(why));
}

void Client::Core::on_connected(Node& /*node*/) { ++stats_.connects; }

void Client::Core::on_unavailable(Node& node) {
  if (router_ && router_->is_master(node.id())) want_map();
}

void Client::Core::on_fail_fast_changed(Node& node) {
  if (router_) return;
  if (const Error* const why = node.fail_fast_error()) {
    fail_fast_->set(*why);
  } else {
    fail_fast_->clear();
  }
}

void Client::Core::on_event(const RedisEvent& event) {
  if (options().on_event && !stopped_) options().on_event(event);
}

bool Client::Core::wants_connection(const Node& node) const {
  return !router_ || !router_->has_map() || router_->is_master(node.id());
}

void Client::Core::resend(PendingPtr pending) {
  ++pending->attempts;
  ++stats_.retries;
  dispatch(std::move(pending));
}

void Client::Core::send_with_script_text(PendingPtr pending, Error why) {
  const Script* const script = pending->command.script;
  std::optional<std::string> eval =
      script == nullptr ? std::nullopt : with_script_text(pending->command.bytes, *script);
  if (!eval) {
    pending->call->on_reply(std::move(why));
    return;
  }
  pending->command.bytes = *std::move(eval);
  ++stats_.script_loads;
  resend(std::move(pending));
}

void Client::Core::send_later(PendingPtr pending, Error why) {
  const Time now = base::monotonic_now();
  const auto pause = retry_pause(pending->attempts + 1, pending->deadline() - now);
  if (!pause || retries_.size() >= options().max_in_flight) {
    fail(std::move(pending->call), std::move(why));
    return;
  }
  retries_.add(now + *pause, std::move(pending));
  arm_timer();
}

void Client::Core::arm_timer() {
  Time next = std::min(retries_.next_due(), awaiting_map_.next_due());
  next = std::min(next, pace_.due().value_or(Time::max()));
  if (next >= armed_at_ || stopped_) return;
  armed_at_ = next;
  timer_.expires_at(next);
  timer_.async_wait([self = shared_from_this()](const error_code& failed) {
    if (!failed && !self->stopped_) self->on_timer();
  });
}

void Client::Core::on_timer() {
  armed_at_ = Time::max();
  const Time now = base::monotonic_now();
  for (PendingPtr& pending : retries_.take_due(now)) resend(std::move(pending));
  for (PendingPtr& pending : awaiting_map_.take_due(now)) {
    ++stats_.timeouts;
    fail(std::move(pending->call),
         {ErrorCode::Unavailable, "the cluster's slot map did not arrive in time"});
  }
  const std::optional<Time> refresh = pace_.due();
  if (refresh && *refresh <= now) start_refresh(now);
  arm_timer();
}

void Client::Core::fail(std::unique_ptr<Call> call, Error why) {
  deferred_errors_.add(std::move(call), std::move(why));
  if (delivery_posted_) return;
  delivery_posted_ = true;
  asio::post(executor_, [self = shared_from_this()] {
    self->delivery_posted_ = false;
    self->deferred_errors_.deliver();
  });
}

Client::Client(boost::asio::any_io_executor executor, Options options,
               std::vector<const Script*> scripts)
    : core_(std::make_shared<Core>(std::move(executor), std::move(options), std::move(scripts))) {}

Client::~Client() { core_->stop(); }

void Client::start() { core_->start(); }

void Client::send(Command command, std::unique_ptr<Call> call) {
  core_->send(std::move(command), std::move(call));
}

Result<void> Client::reload(Options options) { return core_->reload(std::move(options)); }

bool Client::is_cluster() const noexcept { return core_->is_cluster(); }

std::vector<NodeId> Client::masters() const { return core_->masters(); }

std::string Client::address_of(NodeId node) const { return core_->address_of(node); }

ClientHealth Client::health() const { return core_->health(); }

ClientStats Client::stats() const noexcept { return core_->stats(); }

std::shared_ptr<FailFast> Client::fail_fast() const { return core_->fail_fast(); }

}  // namespace penstock::redis
