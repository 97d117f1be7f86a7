#include "redis/subscription.hpp"

#include "redis/circuit_breaker.hpp"
#include "redis/connection.hpp"
#include "redis/handshake.hpp"
#include "redis/node.hpp"
#include "redis/sentinel.hpp"
#include "resp/command.hpp"

#include <boost/asio/steady_timer.hpp>

#include <random>
#include <utility>

namespace penstock::redis {

PushMessage read_push(const resp::Value& reply) {
  if (reply.elements.size() != 3) return {};
  const std::string& word = reply.elements.front().text;
  if (word == "subscribe") return {.kind = PushMessage::Kind::Subscribed};
  if (word != "message") return {};
  return {.kind = PushMessage::Kind::Message, .payload = reply.elements.back().text};
}
namespace asio = boost::asio;
using boost::system::error_code;

// Held by the subscription, and by its coroutine until stop().
class Subscription::Core : public std::enable_shared_from_this<Subscription::Core> {
 public:
  Core(asio::any_io_executor executor, Options options, std::string channel, Handlers handlers)
      : executor_(std::move(executor)),
        settings_(node_settings(std::move(options), {})),
        channel_(std::move(channel)),
        handlers_(std::move(handlers)),
        backoff_(settings_->options.reconnect_min_pause, settings_->options.reconnect_max_pause),
        pause_timer_(executor_),
        ping_timer_(executor_),
        random_(std::random_device{}()) {}

  void start() {
    if (started_) return;
    started_ = true;
    if (settings_->options.url.topology == Topology::Sentinel) {
      sentinels_ = std::make_shared<SentinelLocator>(executor_, settings_);
      sentinels_->listen([weak = weak_from_this()](const HostPort& master) {
        const auto self = weak.lock();
        if (self != nullptr) self->leave("failover to " + to_string(master));
      });
    }
    spawn(executor_, run(shared_from_this()));
  }

  void stop() {
    stopped_ = true;
    handlers_ = {};
    pause_timer_.cancel();
    ping_timer_.cancel();
    if (sentinels_ != nullptr) sentinels_->stop();
    leave("stopped");
  }

  [[nodiscard]] bool is_listening() const noexcept { return listening_; }
  [[nodiscard]] Result<void> reload(Options options) {
    return redis::reload(*settings_, std::move(options));
  }

 private:
  // Coroutines; each is run by run(), which holds the core.
  static asio::awaitable<void> run(std::shared_ptr<Core> self) {
    while (!self->stopped_) {
      const Error why = co_await self->listen();
      self->on_lost(why);
      if (self->stopped_) break;
      ++self->attempts_;
      const auto wait = self->backoff_.next(static_cast<std::uint32_t>(self->random_()));
      self->pause_timer_.expires_after(wait);
      static_cast<void>(co_await self->pause_timer_.async_wait(kIo));
    }
  }

  // Until the connection is lost or cannot be opened.
  asio::awaitable<Error> listen() {
    if (!settings_->tls) co_return settings_->tls.error();
    Result<Endpoint> where = co_await locate();
    if (!where) co_return where.error();
    if (stopped_) co_return Error{ErrorCode::Unavailable, "stopped"};
    address_ = to_string(*where);
    auto connection = std::make_shared<Connection>(executor_, *settings_->tls);
    connection_ = connection;
    connection->close_after(settings_->options.connect_timeout);
    Result<void> done = co_await connection->open(*std::move(where));
    if (done) {
      Handshake handshake(settings_->login, settings_->role, {});
      done = co_await run_handshake(connection, std::move(handshake));
    }
    if (done) {
      std::string subscribe = resp::command({"SUBSCRIBE", channel_});
      done = co_await connection->write(std::move(subscribe));
    }
    if (!done) co_return done.error();
    ping_soon(connection);
    co_return co_await receive_messages(connection);
  }

  asio::awaitable<Result<Endpoint>> locate() {
    if (sentinels_ != nullptr) {
      co_return co_await sentinels_->locate();
    }
    const Url& url = settings_->options.url;
    Endpoint endpoint{.socket_path = url.socket_path};
    if (!url.hosts.empty()) endpoint.address = url.hosts[attempts_ % url.hosts.size()];
    co_return endpoint;
  }

  asio::awaitable<Error> receive_messages(std::shared_ptr<Connection> connection) {
    while (true) {
      const Result<resp::Value> reply = co_await connection->read();
      if (!reply) co_return reply.error();
      if (reply->is(resp::Value::Type::Error)) {
        co_return Error{ErrorCode::Misconfigured, reply->text};
      }
      connection->close_after(kMaxSilence);
      on_push(read_push(*reply));
    }
  }

  void on_push(const PushMessage& push) {
    const Handlers handlers = handlers_;  // the handler may call stop()
    if (push.kind == PushMessage::Kind::Subscribed && !listening_) {
      listening_ = true;
      backoff_.reset();
      report_event(RedisEvent::Kind::Subscribed, address_ + ": listening to \"" + channel_ + "\"");
      if (handlers.on_gap) handlers.on_gap();
    } else if (push.kind == PushMessage::Kind::Message && handlers.on_message) {
      handlers.on_message(push.payload);
    }
  }

  void on_lost(const Error& why) {
    if (connection_ != nullptr) connection_->close(why.detail);
    connection_.reset();
    ping_timer_.cancel();
    if (!stopped_) {
      report_event(RedisEvent::Kind::SubscriptionLost,
                   address_ + ": not listening to \"" + channel_ + "\": " + why.detail);
    }
    const std::function<void()> on_gap = handlers_.on_gap;
    if (std::exchange(listening_, false) && on_gap) on_gap();
  }

  void leave(std::string_view why) {
    if (connection_ != nullptr) connection_->close(why);
  }

  // The replies keep the connection from being closed as silent.
  void ping_soon(const std::shared_ptr<Connection>& connection) {
    ping_timer_.expires_after(kPingEvery);
    ping_timer_.async_wait([weak = weak_from_this(), connection](const error_code& failed) {
      const auto self = weak.lock();
      if (failed || self == nullptr || self->connection_ != connection) return;
      connection->out() = resp::command({"PING"});
      connection->start_write([weak, connection](const error_code& lost) {
        const auto core = weak.lock();
        if (!lost && core != nullptr && core->connection_ == connection) {
          core->ping_soon(connection);
        }
      });
    });
  }

  void report_event(RedisEvent::Kind kind, const std::string& text) {
    if (text == last_event_) return;
    last_event_ = text;
    if (settings_->options.on_event) {
      settings_->options.on_event({.kind = kind, .text = text});
    }
  }

  asio::any_io_executor executor_;
  std::shared_ptr<NodeSettings> settings_;
  std::string channel_;
  Handlers handlers_;
  std::shared_ptr<SentinelLocator> sentinels_;
  std::shared_ptr<Connection> connection_;
  std::string address_;
  std::string last_event_;
  Backoff backoff_;
  asio::steady_timer pause_timer_;
  asio::steady_timer ping_timer_;
  std::minstd_rand random_;
  std::size_t attempts_ = 0;
  bool started_ = false;
  bool stopped_ = false;
  bool listening_ = false;
};

Subscription::Subscription(asio::any_io_executor executor, Options options, std::string channel,
                           Handlers handlers)
    : core_(std::make_shared<Core>(std::move(executor), std::move(options), std::move(channel),
                                   std::move(handlers))) {}

Subscription::~Subscription() { core_->stop(); }

void Subscription::start() { core_->start(); }

Result<void> Subscription::reload(Options options) { return core_->reload(std::move(options)); }

bool Subscription::is_listening() const noexcept { return core_->is_listening(); }

}  // namespace penstock::redis
