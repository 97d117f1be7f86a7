#pragma once

#include "penstock/result.hpp"
#include "simulation/model_store.hpp"

#include <functional>

namespace penstock::simulation {

class Node;

// What a node can do in the world that it is part of.
class NodeContext {
 public:
  NodeContext() = default;
  NodeContext(const NodeContext&) = delete;
  NodeContext& operator=(const NodeContext&) = delete;
  virtual ~NodeContext() = default;

  // What the node's own clock shows.
  [[nodiscard]] virtual base::Deadline clock_of(const Node& node) const = 0;
  // At the end of this tick, if the node is still there.
  virtual void post(Node& node, std::function<void()> task) = 0;
  // When the node's own clock shows this, or a little earlier, if the node is still there.
  virtual void wake_at(Node& node, base::Deadline deadline, std::function<void()> task) = 0;
  // Asks the store: `executed` happens there once or never, then `failed` here, or what `executed`
  // returned; unless the node is gone by then.
  using Reply = std::function<void()>;
  virtual void call(Node& node, std::function<Reply(ModelStore&, Instant)> executed,
                    std::function<void(const Error&)> failed) = 0;
  // Somebody gave back or reset, and tells the others.
  virtual void publish(bool is_revoked) = 0;
  // Decided by the store, or spent out of a lease.
  virtual void admit(std::uint64_t units) = 0;
  // What one node has now, in hand and on its way.
  virtual void note_held(std::uint64_t units) = 0;
  // Refused without a question to the store, by what it said last to this node.
  virtual void denied_from_cache(const Node& node, Cost cost) = 0;
};

}  // namespace penstock::simulation
