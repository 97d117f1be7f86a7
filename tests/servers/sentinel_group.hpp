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

// One master, its replicas and three sentinels with a quorum of two. The sentinels check more often
// than by default, so that a failover takes a second or two; a returning master is demoted after
// four more.
class SentinelGroup {
 public:
  // On return the replicas follow the master, and each sentinel knows all others.
  explicit SentinelGroup(const SentinelGroupOptions& options = {});

  // redis-sentinel://…/mymaster, with the password of the servers.
  [[nodiscard]] std::string url() const;

  // All servers; the first is the initial master.
  [[nodiscard]] RedisServer& server(std::size_t index) { return *servers_.at(index); }
  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  [[nodiscard]] RedisServer& sentinel(std::size_t index) { return *sentinels_.at(index); }
  [[nodiscard]] std::size_t sentinels() const noexcept { return sentinels_.size(); }

  // The port that most running sentinels report; 0 while they disagree.
  [[nodiscard]] std::uint16_t current_master_port() const;
  // The server of that port. Waits until the sentinels agree.
  [[nodiscard]] RedisServer& master();
  [[nodiscard]] std::vector<RedisServer*> replicas();  // all others, dead ones too

  // Kills the master and returns it at once, before a failover.
  RedisServer& kill_master();
  // SENTINEL FAILOVER; returns when another server is the master for all.
  void fail_over();
  // Waits until all running sentinels report a master other than `port` and it confirms its role.
  void wait_for_master_other_than(std::uint16_t port);
  // Waits until all servers run and all replicas follow the master.
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
