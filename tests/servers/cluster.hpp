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
// in the same order. Failovers change who is what. Replicas do not move to other masters.
//
// Thread-safety: as RedisServer. Only nodes that run are asked; while a failover is under way, what
// they say is what was true last.
class Cluster {
 public:
  static constexpr std::size_t kMasters = 3;
  static constexpr std::size_t kNodes = 6;

  // On return the state is ok for every node, and the replicas are connected.
  explicit Cluster(const ClusterOptions& options = {});

  [[nodiscard]] std::string url() const;  // redis-cluster://…, with all nodes
  [[nodiscard]] RedisServer& node(std::size_t index) { return *nodes_.at(index).server; }
  [[nodiscard]] std::string id_of(const RedisServer& node) const;

  // The node that says of itself that it is the master of the slot; of two, the one that learned it
  // last. Waits until there is one.
  [[nodiscard]] RedisServer& master_of_slot(std::uint16_t slot);
  // Running replicas.
  [[nodiscard]] std::vector<RedisServer*> replicas_of(const RedisServer& master);

  // Returns the one killed, at once; nobody has taken over yet.
  RedisServer& kill_master_of_slot(std::uint16_t slot);
  // Until another node than this one is the master of the slot, and all running nodes are ok.
  void wait_for_other_master(std::uint16_t slot, const RedisServer& old);
  // CLUSTER FAILOVER; returns when the replica is a master and all know.
  void fail_over_to(RedisServer& replica);
  // Until all running nodes say that the state is ok and agree on who has which slot, and all
  // replicas among them are connected.
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

// One slot on its way, step by step, so that a test can act in between: before move_keys() the
// source answers for the keys it has and sends clients on with ASK for those it has not; between
// two of them, commands on several keys get TRYAGAIN; until finish() the other nodes say MOVED to
// the source.
class SlotMigration {
 public:
  SlotMigration(Cluster& cluster, std::uint16_t slot, RedisServer& to)
      : cluster_(cluster), slot_(slot), from_(cluster.master_of_slot(slot)), to_(to) {}

  [[nodiscard]] RedisServer& source() noexcept { return from_; }
  [[nodiscard]] RedisServer& target() noexcept { return to_; }

  void begin();
  // Moves that many keys at the most; returns how many there were.
  std::size_t move_keys(std::size_t most = 1000);
  void move_all_keys();
  // REQUIRES: no key is left.
  void finish();

 private:
  Cluster& cluster_;
  std::uint16_t slot_;
  RedisServer& from_;
  RedisServer& to_;
};

}  // namespace penstock::servers
