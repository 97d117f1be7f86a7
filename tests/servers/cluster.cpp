#include "servers/cluster.hpp"

#include "servers/wait.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace penstock::servers {
namespace {

constexpr unsigned kSlots = 16'384;

// A line of CLUSTER NODES:
// id address flags master ping-sent pong-received epoch link-state slot slot-slot …
struct NodeLine {
  std::string id{};
  std::string flags{};
  std::string master{};
  std::uint64_t epoch = 0;
  std::vector<std::string> slots{};

  [[nodiscard]] bool is(std::string_view flag) const {
    return ("," + flags + ",").find("," + std::string(flag) + ",") != std::string::npos;
  }
  [[nodiscard]] bool has(unsigned slot) const {
    return std::ranges::any_of(slots, [slot](const std::string& range) {
      const std::size_t dash = range.find('-');
      const unsigned long first = std::stoul(range);
      return first <= slot &&
             slot <= (dash == std::string::npos ? first : std::stoul(range.substr(dash + 1)));
    });
  }
};

std::vector<NodeLine> node_lines(const RedisServer& node) {
  std::vector<NodeLine> nodes;
  std::istringstream lines(node.must({"CLUSTER", "NODES"}).text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    NodeLine parsed;
    std::string skipped;
    words >> parsed.id >> skipped >> parsed.flags >> parsed.master >> skipped >> skipped >>
        parsed.epoch >> skipped;
    for (std::string slots; words >> slots;) {
      if (!slots.starts_with('[')) {  // being migrated
        parsed.slots.push_back(slots);
      }
    }
    nodes.push_back(std::move(parsed));
  }
  return nodes;
}

// The node's own line.
NodeLine own_line(const RedisServer& node) {
  const std::vector<NodeLine> lines = node_lines(node);
  const auto own =
      std::ranges::find_if(lines, [](const NodeLine& line) { return line.is("myself"); });
  if (own == lines.end()) {
    throw std::runtime_error("a node of the cluster does not know itself");
  }
  return *own;
}

// The slot distribution as a node sees it; equal text for equal views.
std::string slots_seen_by(const RedisServer& node) {
  std::vector<std::string> masters;
  for (const NodeLine& line : node_lines(node)) {
    if (line.is("master") && !line.slots.empty()) {
      std::string text = line.id;
      for (const std::string& slots : line.slots) {
        text += " " + slots;
      }
      masters.push_back(std::move(text));
    }
  }
  std::ranges::sort(masters);
  std::string all;
  for (const std::string& master : masters) {
    all += master + "\n";
  }
  return all;
}

bool is_ok(const RedisServer& node) {
  const std::string info = node.must({"CLUSTER", "INFO"}).text;
  if (field_of(info, "cluster_state") != "ok") {
    return false;
  }
  return own_line(node).is("master") || node.info("master_link_status") == "up";
}

}  // namespace

Cluster::Cluster(const ClusterOptions& options) {
  for (std::size_t i = 0; i < kNodes; ++i) {
    Node made;
    RedisServerOptions server{
        .program = options.program,
        .password = options.password,
        .config = {"cluster-enabled yes", "cluster-port " + std::to_string(made.bus.number()),
                   "cluster-node-timeout " + std::to_string(options.node_timeout.count()),
                   "cluster-allow-replica-migration no", "cluster-replica-validity-factor 0"}};
    server.config.insert(server.config.end(), options.config.begin(), options.config.end());
    made.server = std::make_unique<RedisServer>(std::move(server));
    made.id = made.server->must({"CLUSTER", "MYID"}).text;
    nodes_.push_back(std::move(made));
  }
  share_slots();
  introduce();
  attach_replicas();
  wait_until_ok();
}

void Cluster::share_slots() {
  for (std::size_t i = 0; i < kNodes; ++i) {
    // Different from the start, so that the nodes need not resolve conflicts.
    node(i).must({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  for (unsigned i = 0; i < kMasters; ++i) {
    node(i).must({"CLUSTER", "ADDSLOTSRANGE", std::to_string(kSlots * i / kMasters),
                  std::to_string(kSlots * (i + 1) / kMasters - 1)});
  }
}

void Cluster::introduce() {
  // All pairs: gossip would take seconds.
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      node(i).must({"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(other).port()),
                    std::to_string(nodes_[other].bus.number())});
    }
  }
  wait_until("the nodes to know each other", [this] {
    return std::ranges::all_of(nodes_, [this](const Node& node) {
      const std::vector<NodeLine> seen = node_lines(*node.server);
      return seen.size() == kNodes &&
             std::ranges::none_of(seen, [](const NodeLine& line) { return line.is("handshake"); });
    });
  });
}

void Cluster::attach_replicas() {
  for (std::size_t i = kMasters; i < kNodes; ++i) {
    node(i).must({"CLUSTER", "REPLICATE", nodes_[i - kMasters].id});
  }
  wait_until("the masters to know their replicas", [this] {
    return std::ranges::all_of(nodes_, [](const Node& node) {
      return std::ranges::count_if(node_lines(*node.server), [](const NodeLine& line) {
               return line.is("slave");
             }) == kNodes - kMasters;
    });
  });
}

std::string Cluster::url() const {
  const std::string& password = nodes_.front().server->password();
  std::string text = "redis-cluster://" + (password.empty() ? "" : ":" + password + "@");
  for (const Node& node : nodes_) {
    text += (&node == &nodes_.front() ? "127.0.0.1:" : ",127.0.0.1:") +
            std::to_string(node.server->port());
  }
  return text;
}

std::string Cluster::id_of(const RedisServer& node) const {
  return std::ranges::find_if(nodes_, [&](const Node& n) { return n.server.get() == &node; })->id;
}

std::vector<RedisServer*> Cluster::running() const {
  std::vector<RedisServer*> found;
  for (const Node& node : nodes_) {
    if (node.server->is_running()) {
      found.push_back(node.server.get());
    }
  }
  return found;
}

RedisServer* Cluster::owner_of(std::uint16_t slot) const {
  RedisServer* owner = nullptr;
  std::uint64_t epoch = 0;
  for (RedisServer* node : running()) {
    const NodeLine line = own_line(*node);
    if (line.is("master") && line.has(slot) && (owner == nullptr || line.epoch > epoch)) {
      owner = node;
      epoch = line.epoch;
    }
  }
  return owner;
}

RedisServer& Cluster::master_of_slot(std::uint16_t slot) {
  RedisServer* owner = nullptr;
  wait_until("a master of slot " + std::to_string(slot), [&] {
    owner = owner_of(slot);
    return owner != nullptr;
  });
  return *owner;
}

std::vector<RedisServer*> Cluster::replicas_of(const RedisServer& master) {
  std::vector<RedisServer*> found = running();
  std::erase_if(found, [id = id_of(master)](const RedisServer* node) {
    const NodeLine line = own_line(*node);
    return !line.is("slave") || line.master != id;
  });
  return found;
}

RedisServer& Cluster::kill_master_of_slot(std::uint16_t slot) {
  RedisServer& victim = master_of_slot(slot);
  victim.kill();
  return victim;
}

void Cluster::wait_for_other_master(std::uint16_t slot, const RedisServer& old) {
  wait_until("another master of slot " + std::to_string(slot), [&] {
    const RedisServer* owner = owner_of(slot);
    return owner != nullptr && owner != &old;
  });
  wait_until_ok();
}

void Cluster::fail_over_to(RedisServer& replica) {
  // The vote may fail when it is late or another one is in progress; then it is repeated.
  constexpr std::chrono::seconds kOneVote{5};
  wait_until("a replica to take over", [&] {
    if (own_line(replica).is("master")) {
      return true;
    }
    static_cast<void>(replica.command({"CLUSTER", "FAILOVER"}));
    try {
      wait_until(
          "a vote", [&] { return own_line(replica).is("master"); }, kOneVote);
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  });
  wait_until_ok();
}

void Cluster::wait_until_ok() {
  wait_until("the cluster to be ok", [this] {
    const std::vector<RedisServer*> nodes = running();
    return !nodes.empty() && std::ranges::all_of(nodes, [&](const RedisServer* node) {
      return is_ok(*node) && slots_seen_by(*node) == slots_seen_by(*nodes.front());
    });
  });
}

void Cluster::migrate_slot(std::uint16_t slot, RedisServer& to) {
  SlotMigration migration(*this, slot, to);
  migration.begin();
  migration.move_all_keys();
  migration.finish();
}

void SlotMigration::begin() {
  const std::string slot = std::to_string(slot_);
  // In this order: the source may redirect clients as soon as it migrates.
  to_.must({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster_.id_of(from_)});
  from_.must({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster_.id_of(to_)});
}

std::size_t SlotMigration::move_keys(std::size_t most) {
  const Reply keys =
      from_.must({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot_), std::to_string(most)});
  if (keys.elements.empty()) {
    return 0;
  }
  std::vector<std::string> words{"MIGRATE", "127.0.0.1", std::to_string(to_.port()),
                                 "",        "0",         "10000"};
  if (!to_.password().empty()) {
    words.insert(words.end(), {"AUTH", to_.password()});
  }
  words.emplace_back("KEYS");
  for (const Reply& key : keys.elements) {
    words.push_back(key.text);
  }
  from_.must(words);
  return keys.elements.size();
}

void SlotMigration::move_all_keys() {
  while (move_keys() > 0) {
  }
}

void SlotMigration::finish() {
  const std::vector<std::string> command{"CLUSTER", "SETSLOT", std::to_string(slot_), "NODE",
                                         cluster_.id_of(to_)};
  // The target first: the source forgets the redirect, and no node would own the slot.
  to_.must(command);
  from_.must(command);
  for (RedisServer* node : cluster_.running()) {
    if (node != &to_ && node != &from_ && own_line(*node).is("master")) {
      node->must(command);
    }
  }
  cluster_.wait_until_ok();
}

}  // namespace penstock::servers
