#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"
#include "redis/fail_fast.hpp"
#include "redis/options.hpp"
#include "redis/script.hpp"
#include "resp/value.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace penstock::redis {

// Whoever waits for a reply.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  // Called exactly once, on the client's executor, never from within Client::send(). An error reply
  // of the server arrives as an Error:
  //   Unavailable, Overloaded   not executed, for certain
  //   Timeout, ConnectionLost   executed or not, nobody knows
  //   Misconfigured             refused: password, permission, certificate
  //   Protocol                  anything else; the detail has the server's words
  virtual void on_reply(Result<resp::Value> reply) = 0;

  // A cluster has no answer for several keys together while their slot is on its way. Whoever can
  // ask for each of them alone does so now and returns true: this call then hears nothing more.
  virtual bool split() { return false; }
};

// One server, as long as the client lives.
using NodeId = std::uint32_t;

struct Command {
  std::string bytes{};             // as resp::CommandWriter wrote it
  const Script* script = nullptr;  // of an EVALSHA, one of those that the client was given
  std::uint16_t slot = 0;          // of its keys; only looked at in a cluster
  std::optional<NodeId> node{};    // to this one, whatever the slot
  base::Deadline deadline{};
};

struct ClientStats {
  std::uint64_t commands = 0;      // sent for callers, retries included
  std::uint64_t retries = 0;       // sent again because they were not executed
  std::uint64_t connects = 0;      // connections made
  std::uint64_t timeouts = 0;      // calls that were not answered in time
  std::uint64_t fast_fails = 0;    // calls refused at once: node unreachable, or its breaker open
  std::uint64_t script_loads = 0;  // sent again with a script that the server had forgotten
};

// Whether anybody can be asked, as far as is known already.
struct ClientHealth {
  bool serving = false;  // some server can; of a cluster, one master at least
  std::string reason{};  // what is wrong with a server, in words; empty when all is well
};

// Speaks to one Redis, a Sentinel group or a cluster: one connection per node, commands of one tick
// in one write, replies matched in order. Connects by itself, and again whenever a connection is
// lost; a command whose deadline passes fails with Timeout, and its late reply goes nowhere.
//
// Thread-safety: none; everything happens on the executor, which must not run it in two threads at
// once.
class Client {
 public:
  // REQUIRES: the scripts outlive the client. They are loaded on every connection made.
  Client(boost::asio::any_io_executor executor, Options options,
         std::vector<const Script*> scripts);
  // Fails what is outstanding with Unavailable, if on_reply() was not called yet.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Starts to connect. Commands may be sent before there is a connection: they wait for the first
  // one as long as their deadline allows. Once an attempt has failed they fail at once, until one
  // succeeds.
  void start();

  void send(Command command, std::unique_ptr<Call> call);

  // Users, passwords and certificates of these options are used for connections that are made from
  // now on; those that are open stay. On an error everything stays as it was.
  [[nodiscard]] Result<void> renew_credentials(const Options& options);

  [[nodiscard]] bool is_cluster() const noexcept;
  // The masters known now: one, but for a cluster.
  [[nodiscard]] std::vector<NodeId> masters() const;
  // "host:port" or the path of the socket.
  [[nodiscard]] std::string address_of(NodeId node) const;
  [[nodiscard]] ClientStats stats() const noexcept;
  [[nodiscard]] ClientHealth health() const;
  // What send() would refuse now, to be looked at from any thread, also after the client is gone.
  // In a cluster it depends on the slot, and nothing is ever put up.
  [[nodiscard]] std::shared_ptr<FailFast> fail_fast() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace penstock::redis
