#pragma once

#include "servers/redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace penstock::servers {

struct SentinelGroupOptions {
  std::string program = "redis-server";
  std::size_t replicas = 1;
  std::string password{};           // of the servers
  std::string sentinel_password{};  // of the sentinels
  std::chrono::milliseconds down_after{500};
  std::vector<std::string> config{};  // of the servers
};

// One master, its replicas and three sentinels with a quorum of two. The sentinels look at the
// servers more often than the default, so that a failover takes a second or two; an old master that
// comes back is made a replica after four more.
class SentinelGroup {
 public:
  // On return the replicas follow the master, and each sentinel knows all the others.
  explicit SentinelGroup(const SentinelGroupOptions& options = {});

  // redis-sentinel://…/mymaster, with the password of the servers.
  [[nodiscard]] std::string url() const;

  // All servers; which of them is the master changes. The first one is, to begin with.
  [[nodiscard]] RedisServer& server(std::size_t index) { return *servers_.at(index); }
  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  [[nodiscard]] RedisServer& sentinel(std::size_t index) { return *sentinels_.at(index); }
  [[nodiscard]] std::size_t sentinels() const noexcept { return sentinels_.size(); }

  // What most of the running sentinels say; 0 as long as they do not agree.
  [[nodiscard]] std::uint16_t current_master_port() const;
  // The server of that port. Waits until the sentinels agree.
  [[nodiscard]] RedisServer& master();
  [[nodiscard]] std::vector<RedisServer*> replicas();  // all others, dead ones too

  // Returns the one killed, at once; nobody has taken over yet.
  RedisServer& kill_master();
  // SENTINEL FAILOVER; returns when another server is the master for all.
  void fail_over();
  // Until all running sentinels name a master other than `port`, and it says so itself.
  void wait_for_master_other_than(std::uint16_t port);
  // Until all servers run and all but the master follow it.
  void wait_until_healthy();

 private:
  void start_sentinels(const SentinelGroupOptions& options);
  void wait_until_known(std::size_t replicas);
  [[nodiscard]] RedisServer* server_at(std::uint16_t port);
  [[nodiscard]] std::vector<std::uint16_t> named_ports() const;  // by each running sentinel

  std::vector<std::unique_ptr<RedisServer>> servers_{};
  std::vector<std::unique_ptr<RedisServer>> sentinels_{};
};

}  // namespace penstock::servers
