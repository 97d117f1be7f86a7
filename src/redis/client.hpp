#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"
#include "redis/circuit_breaker.hpp"
#include "redis/options.hpp"
#include "redis/script.hpp"
#include "resp/value.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace penstock::redis {

// The error that a client with one server would fail every command with now. Other threads check it
// before they hand a command to the client's thread. The client sets it; while it is not set, a
// check costs one memory read.
//
// Thread-safety: all members, from any thread.
class FailFast {
 public:
  void set(Error why) {
    auto shown = std::make_shared<const Error>(std::move(why));
    const std::lock_guard lock(mutex_);
    why_ = std::move(shown);
    is_set_.store(true, std::memory_order_release);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    why_.reset();
    is_set_.store(false, std::memory_order_release);
  }

  // The error to fail with instead of a call, if set. Counted.
  [[nodiscard]] std::optional<Error> fail_now() {
    // acquire: a thread that saw an answer of the recovered server does not see the older error
    if (!is_set_.load(std::memory_order_acquire)) return std::nullopt;
    const std::shared_ptr<const Error> shown = current_error();
    if (shown == nullptr) return std::nullopt;
    // relaxed: only the sum is used
    fast_fails_.fetch_add(1, std::memory_order_relaxed);
    return *shown;
  }
  [[nodiscard]] std::uint64_t fast_fails() const noexcept {
    return fast_fails_.load(std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  [[nodiscard]] std::shared_ptr<const Error> current_error() {
    const std::lock_guard lock(mutex_);
    return why_;
  }

  std::atomic<bool> is_set_ = false;
  std::atomic<std::uint64_t> fast_fails_ = 0;
  std::mutex mutex_;
  std::shared_ptr<const Error> why_;  // guarded by mutex_
};

// Receives the reply to a command.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  // Called exactly once, on the client's executor, never from within Client::send(). An error reply
  // of the server arrives as an Error:
  //   Unavailable, Overloaded   not executed
  //   Timeout, ConnectionLost   may have been executed
  //   Misconfigured             rejected: password, permission, certificate
  //   Protocol                  anything else; the detail has the server's message
  virtual void on_reply(Result<resp::Value> reply) = 0;

  // A cluster rejects commands with several keys while their slot migrates. A call that can send
  // one command per key does so now and returns true: on_reply() is then not called.
  virtual bool split() { return false; }
};

// Identifies one server for the lifetime of the client.
using NodeId = std::uint32_t;

struct Command {
  std::string bytes{};             // encoded by resp::CommandWriter
  const Script* script = nullptr;  // of an EVALSHA; one of the client's scripts
  std::uint16_t slot = 0;          // of its keys; used only in a cluster
  std::optional<NodeId> node{};    // overrides the slot
  base::Deadline deadline{};
};

struct ClientStats {
  std::uint64_t commands = 0;      // sent for callers, retries included
  std::uint64_t retries = 0;       // sent again because they were not executed
  std::uint64_t connects = 0;      // connections established
  std::uint64_t timeouts = 0;      // calls without a reply by their deadline
  std::uint64_t fast_fails = 0;    // failed at once: node unreachable or its breaker open
  std::uint64_t script_loads = 0;  // sent again with the script text after NOSCRIPT
};

// Whether commands can be served, as far as is known.
struct ClientHealth {
  bool serving = false;  // a server is available; in a cluster, at least one master
  std::string reason{};  // why a server is unavailable; empty when all are healthy
  CircuitBreaker::State breaker = CircuitBreaker::State::Closed;  // open, if one is open
};

// Client of a single Redis server, a Sentinel group or a cluster: one connection per node, the
// commands of one tick in one write, replies matched in order. It connects and reconnects by
// itself. A command fails with Timeout when its deadline passes; its late reply is dropped.
//
// Thread-safety: none; everything runs on the executor, which must not run it in two threads at
// once.
class Client {
 public:
  // REQUIRES: the scripts outlive the client. They are loaded on every new connection.
  Client(boost::asio::any_io_executor executor, Options options,
         std::vector<const Script*> scripts);
  // Fails outstanding calls with Unavailable.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Starts to connect. Commands sent before the first connection wait for it until their deadline.
  // After a failed attempt commands fail at once, until a connection succeeds.
  void start();

  void send(Command command, std::unique_ptr<Call> call);

  // Replaces the options, except on_event. Open connections stay; users, passwords and certificates
  // are for new ones. On an error nothing changes. REQUIRES: the URL differs in user and password
  // only.
  [[nodiscard]] Result<void> reload(Options options);

  [[nodiscard]] bool is_cluster() const noexcept;
  // The known masters: one, except for a cluster.
  [[nodiscard]] std::vector<NodeId> masters() const;
  // "host:port" or the path of the socket.
  [[nodiscard]] std::string address_of(NodeId node) const;
  [[nodiscard]] ClientStats stats() const noexcept;
  [[nodiscard]] ClientHealth health() const;
  // The error that send() would fail with now, readable from any thread, also after the client is
  // destroyed. Never set in a cluster, where it depends on the slot.
  [[nodiscard]] std::shared_ptr<FailFast> fail_fast() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace penstock::redis
