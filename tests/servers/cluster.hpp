#pragma once

#include "servers/loopback.hpp"
#include "servers/redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace penstock::servers {

struct ClusterOptions {
  std::string program = "redis-server";
  std::string password{};
  std::chrono::milliseconds node_timeout{1000};
  std::vector<std::string> config{};  // of every node
};

// Six nodes: three masters that share the slots evenly, nodes 0 to 2, and a replica of each, 3 to 5
// in the same order. Failovers change the roles. Replicas do not move to other masters.
//
// Thread-safety: as RedisServer. Only running nodes are queried; during a failover, their answers
// may be stale.
class Cluster {
 public:
  static constexpr std::size_t kMasters = 3;
  static constexpr std::size_t kNodes = 6;

  // On return the state is ok for every node, and the replicas are connected.
  explicit Cluster(const ClusterOptions& options = {});

  [[nodiscard]] std::string url() const;  // redis-cluster://…, with all nodes
  [[nodiscard]] RedisServer& node(std::size_t index) { return *nodes_.at(index).server; }
  [[nodiscard]] std::string id_of(const RedisServer& node) const;

  // The node that reports itself as master of the slot; of two, the one with the newer epoch. Waits
  // until there is one.
  [[nodiscard]] RedisServer& master_of_slot(std::uint16_t slot);
  // Running replicas.
  [[nodiscard]] std::vector<RedisServer*> replicas_of(const RedisServer& master);

  // Kills the master and returns it at once, before a failover.
  RedisServer& kill_master_of_slot(std::uint16_t slot);
  // Waits until another node is the master of the slot and all running nodes are ok.
  void wait_for_other_master(std::uint16_t slot, const RedisServer& old);
  // CLUSTER FAILOVER; returns when the replica is a master and all nodes know it.
  void fail_over_to(RedisServer& replica);
  // Waits until all running nodes report state ok and agree on the slots, and all their replicas
  // are connected.
  void wait_until_ok();

  // REQUIRES: `to` is a master, and not of this slot.
  void migrate_slot(std::uint16_t slot, RedisServer& to);

 private:
  friend class SlotMigration;
  struct Node {
    ReservedPort bus;
    std::unique_ptr<RedisServer> server;
    std::string id;
  };

  void introduce();
  void share_slots();
  void attach_replicas();
  [[nodiscard]] std::vector<RedisServer*> running() const;
  [[nodiscard]] RedisServer* owner_of(std::uint16_t slot) const;

  std::vector<Node> nodes_{};
};

// Migrates one slot step by step, so that a test can act in between: before move_keys() the source
// serves the keys it has and answers ASK for others; between two move_keys(), multi-key commands
// get TRYAGAIN; until finish() the other nodes answer MOVED to the source.
class SlotMigration {
 public:
  SlotMigration(Cluster& cluster, std::uint16_t slot, RedisServer& to)
      : cluster_(cluster), slot_(slot), from_(cluster.master_of_slot(slot)), to_(to) {}

  [[nodiscard]] RedisServer& source() noexcept { return from_; }
  [[nodiscard]] RedisServer& target() noexcept { return to_; }

  void begin();
  // Moves at most this many keys; returns how many were moved.
  std::size_t move_keys(std::size_t most = 1000);
  void move_all_keys();
  // REQUIRES: no key is left in the source.
  void finish();

 private:
  Cluster& cluster_;
  std::uint16_t slot_;
  RedisServer& from_;
  RedisServer& to_;
};

}  // namespace penstock::servers
