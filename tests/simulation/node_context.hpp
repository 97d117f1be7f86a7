#pragma once

#include "penstock/result.hpp"
#include "simulation/model_store.hpp"

#include <functional>

namespace penstock::simulation {

class Node;

// What a node can do in its world.
class NodeContext {
 public:
  NodeContext() = default;
  NodeContext(const NodeContext&) = delete;
  NodeContext& operator=(const NodeContext&) = delete;
  virtual ~NodeContext() = default;

  // The node's own clock.
  [[nodiscard]] virtual base::Deadline clock_of(const Node& node) const = 0;
  // Runs at the end of this tick, if the node still exists.
  virtual void post(Node& node, std::function<void()> task) = 0;
  // Runs when the node's own clock shows this time, or slightly earlier, if the node still exists.
  virtual void wake_at(Node& node, base::Deadline deadline, std::function<void()> task) = 0;
  // Calls the store: `executed` runs there at most once, then `failed` or the function that
  // `executed` returned runs here, if the node still exists.
  using Reply = std::function<void()>;
  virtual void call(Node& node, std::function<Reply(ModelStore&, Instant)> executed,
                    std::function<void(const Error&)> failed) = 0;
  // Announces a refund or reset to the other nodes.
  virtual void publish(bool is_revoked) = 0;
  // Decided by the store, or spent from a lease.
  virtual void admit(std::uint64_t units) = 0;
  // Units held by one node, including those in transit.
  virtual void note_held(std::uint64_t units) = 0;
  // Denied from this node's denial cache, without a call.
  virtual void denied_from_cache(const Node& node, Cost cost) = 0;
};

}  // namespace penstock::simulation
