#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"
#include "redis/circuit_breaker.hpp"
#include "redis/connection.hpp"
#include "redis/handshake.hpp"
#include "redis/options.hpp"
#include "redis/pending.hpp"
#include "redis/script.hpp"
#include "redis/url.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::redis {

class Node;

// Settings shared by the nodes of one client.
struct NodeSettings {
  Options options{};
  Login login{};
  RoleCheck role = RoleCheck::None;
  std::vector<const Script*> scripts{};
  Result<TlsClient> tls = TlsClient{};
};

[[nodiscard]] std::shared_ptr<NodeSettings> node_settings(Options options,
                                                          std::vector<const Script*> scripts);

// Replaces the options, except on_event. On an error nothing changes. REQUIRES: the URL differs in
// user and password only.
[[nodiscard]] Result<void> reload(NodeSettings& settings, Options options);

// Receives the events of a node and the outcome of its commands.
class NodeOwner {
 public:
  NodeOwner() = default;
  NodeOwner(const NodeOwner&) = delete;
  NodeOwner& operator=(const NodeOwner&) = delete;
  virtual ~NodeOwner() = default;

  virtual void on_reply(Node& node, PendingPtr pending, resp::Value reply) = 0;
  // Never written to the server, so not executed.
  virtual void on_unsent(Node& node, PendingPtr pending, Error why) = 0;
  // Written, outcome unknown: Timeout or ConnectionLost.
  virtual void on_lost(Node& node, std::unique_ptr<Call> call, Error why) = 0;
  virtual void on_connected(Node& node) = 0;
  // The node is unreachable, or its breaker opened.
  virtual void on_unavailable(Node& node) = 0;
  // Node::fail_fast_error() has changed.
  virtual void on_fail_fast_changed(Node& node) = 0;
  virtual void on_event(const RedisEvent& event) = 0;
  // Whether to reconnect after a lost or failed connection. If not, the next command restarts the
  // node.
  [[nodiscard]] virtual bool wants_connection(const Node& node) const = 0;
};

// Locates the server before each attempt to connect.
class Locator {
 public:
  Locator() = default;
  Locator(const Locator&) = delete;
  Locator& operator=(const Locator&) = delete;
  virtual ~Locator() = default;

  // The node keeps the locator until this completes.
  [[nodiscard]] virtual boost::asio::awaitable<Result<Endpoint>> locate() = 0;
  // The name shown before and between attempts.
  [[nodiscard]] virtual std::string name() const = 0;
};

// A server with a fixed address.
class FixedLocator : public Locator {
 public:
  explicit FixedLocator(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}

  [[nodiscard]] boost::asio::awaitable<Result<Endpoint>> locate() override;
  [[nodiscard]] std::string name() const override { return to_string(endpoint_); }

 private:
  Endpoint endpoint_;
};

// One server: its connection, which is reopened whenever it is lost, the commands on it, their
// deadlines and the circuit breaker. All commands of one tick leave in one write; commands that
// arrive during a write gather for the next.
//
// Lifetime: held by its owner, and by its coroutine until stop(). Thread-safety: none.
class Node : public std::enable_shared_from_this<Node> {
 public:
  Node(boost::asio::any_io_executor executor, NodeId id,
       std::shared_ptr<const NodeSettings> settings, std::shared_ptr<Locator> locator,
       std::weak_ptr<NodeOwner> owner);

  // Starts to connect; no effect when already started.
  void start();
  // The settings have changed.
  void reload();
  // Closes the connection for good and returns the unanswered commands, without calling the owner.
  [[nodiscard]] std::vector<PendingPtr> stop();

  // Takes the command, and starts the node if needed. On an error `pending` stays with the caller.
  [[nodiscard]] std::optional<Error> submit(PendingPtr& pending);
  // The error that every command fails with now, until a connection or a probe succeeds.
  [[nodiscard]] const Error* fail_fast_error() const noexcept;

  // Opens a new connection as soon as the commands in flight are answered; at once if not
  // connected.
  void reconnect(std::string_view why);

  // Why it is unavailable, as far as is known; empty when it is available, or not tried yet.
  [[nodiscard]] std::string unavailable_reason() const;
  [[nodiscard]] CircuitBreaker::State breaker() const noexcept { return breaker_.state(); }

  [[nodiscard]] NodeId id() const noexcept { return id_; }
  [[nodiscard]] bool is_connected() const noexcept { return connection_ != nullptr; }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  using Time = base::Deadline;

  // Coroutines; each is run by run(), which holds the node.
  static boost::asio::awaitable<void> run(std::shared_ptr<Node> self);
  boost::asio::awaitable<Result<std::shared_ptr<Connection>>> connect();
  boost::asio::awaitable<Error> serve(std::shared_ptr<Connection> connection);
  boost::asio::awaitable<void> pause(Time::duration time);
  // Pause after a lost connection.
  [[nodiscard]] Time::duration pause_after_loss();
  // Ends the pause after a lost connection, because a command waits.
  void connect_soon();

  void on_connected(std::shared_ptr<Connection> connection);
  void on_connect_failed(Error why);
  void on_connection_lost(const Error& why);
  // Ends the coroutine if no connection is wanted.
  [[nodiscard]] bool stop_if_unused();
  [[nodiscard]] Result<void> take_replies(Connection& connection);

  void schedule_flush();
  void flush();
  void arm_timer(Time at);
  void on_timer();
  void send_probe(Time now);
  void count_failure(NodeOwner& owner, Time now);
  void count_success(NodeOwner& owner);
  void report_event(NodeOwner& owner, RedisEvent::Kind kind, std::string text);
  [[nodiscard]] std::uint32_t random() { return static_cast<std::uint32_t>(random_()); }
  [[nodiscard]] Time next_event() const;

  boost::asio::any_io_executor executor_;
  NodeId id_;
  std::shared_ptr<const NodeSettings> settings_;
  std::shared_ptr<Locator> locator_;
  std::weak_ptr<NodeOwner> owner_;

  std::string address_;
  std::shared_ptr<Connection> attempt_;     // connecting
  std::shared_ptr<Connection> connection_;  // ready for commands
  std::optional<Error> failure_;            // of the last attempt to connect
  std::string last_event_;
  Time connected_at_{};
  Time last_received_{};
  bool has_answered_ = false;     // the latest connection answered a command
  bool lost_unanswered_ = false;  // the latest connection was lost with commands and answered none
  Backoff backoff_;
  boost::asio::steady_timer pause_timer_;
  Time pause_until_{};  // of the pause between two attempts to connect

  PendingQueue queue_;
  CircuitBreaker breaker_;
  Error breaker_error_;
  boost::asio::steady_timer timer_;
  Time armed_at_ = Time::max();
  Time last_expiry_{};

  std::minstd_rand random_;
  bool started_ = false;
  bool stopped_ = false;
  bool writing_ = false;
  bool flush_posted_ = false;
  bool draining_ = false;
  std::string drain_reason_;
};

}  // namespace penstock::redis
