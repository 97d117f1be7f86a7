#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis/hash_slot.hpp"
#include "redis/server_error.hpp"
#include "redis/url.hpp"
#include "resp/value.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace penstock::redis {

// Consecutive slots of one master.
struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  HostPort master{};

  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

// Parses the reply to CLUSTER SLOTS. An empty host means the host that answered; a range with host
// "?" (unknown) is skipped.
[[nodiscard]] Result<std::vector<SlotRange>> read_slot_ranges(const resp::Value& reply,
                                                              std::string_view answered_by);

// The owner of each slot.
//
// Thread-safety: none.
class SlotMap {
 public:
  SlotMap() : owners_(kHashSlots, kNoNode) {}

  [[nodiscard]] std::optional<NodeId> owner(std::uint16_t slot) const;
  void assign(std::uint16_t first, std::uint16_t last, NodeId node);

  // In ascending order.
  [[nodiscard]] std::vector<NodeId> owners() const;

  friend bool operator==(const SlotMap&, const SlotMap&) = default;

 private:
  static constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

  std::vector<NodeId> owners_;
};

// Routing state of a cluster: its nodes, the owner of each slot, and the reaction to an error
// reply. A node keeps its number for the lifetime of the client.
//
// Thread-safety: none.
class ClusterRouter {
 public:
  enum class Step : std::uint8_t {
    Deliver,         // pass to the caller
    WithScriptText,  // to the same node, as EVAL
    Resend,          // by the changed map
    Ask,             // once, to Action::node, after ASKING
    Later,           // by the map, after a pause
  };
  enum class Refresh : std::uint8_t { No, Yes };

  struct Action {
    Step step = Step::Deliver;
    Refresh refresh = Refresh::No;
    NodeId node = 0;  // of Step::Ask

    friend bool operator==(const Action&, const Action&) = default;
  };

  // Redirections followed at once; later ones wait, so that the cluster can converge.
  static constexpr unsigned kPromptAttempts = 5;

  explicit ClusterRouter(std::vector<HostPort> seeds);

  [[nodiscard]] const std::vector<HostPort>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] bool has_map() const noexcept { return has_map_; }
  [[nodiscard]] std::optional<NodeId> owner(std::uint16_t slot) const { return map_.owner(slot); }
  [[nodiscard]] std::vector<NodeId> masters() const { return map_.owners(); }
  [[nodiscard]] bool is_master(NodeId node) const;

  // Applies the reply to CLUSTER SLOTS. Returns whether the map changed.
  enum class Change : std::uint8_t { None, Some };
  [[nodiscard]] Result<Change> adopt(const resp::Value& reply, NodeId answered_by);

  // What to do with a command that was sent `attempts` times before and now got an error reply.
  [[nodiscard]] Action on_error(const ServerError& error, std::string_view text, NodeId answered_by,
                                unsigned attempts);

 private:
  [[nodiscard]] NodeId id_of(const HostPort& address);
  [[nodiscard]] NodeId target_of(const ServerError& redirect, NodeId answered_by);

  std::vector<HostPort> nodes_;  // by NodeId
  SlotMap map_;
  std::vector<NodeId> masters_;  // of map_
  bool has_map_ = false;
};

// When to query the slot map: one query at a time, with a pause in between.
//
// Thread-safety: none.
class RefreshPace {
 public:
  using Time = base::Deadline;

  enum class Outcome : std::uint8_t { Answered, Failed };

  // Doubled while no node answers.
  static constexpr std::chrono::milliseconds kMinPause{100};
  static constexpr std::chrono::milliseconds kMaxPause{1600};

  void want() { wanted_ = true; }
  // When to query, if a refresh is wanted and none is in flight.
  [[nodiscard]] std::optional<Time> due() const;
  void start(Time now);
  void finish(Outcome outcome);

 private:
  bool wanted_ = false;
  bool in_flight_ = false;
  std::optional<Time> last_{};
  std::chrono::milliseconds pause_ = kMinPause;
};

}  // namespace penstock::redis
