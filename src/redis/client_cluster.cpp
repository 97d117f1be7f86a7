// The cluster part of a client: slot map and routing by slot.

#include "redis/client_core.hpp"
#include "resp/command.hpp"

#include <algorithm>
#include <utility>

namespace penstock::redis {

// Receives the slot map.
class Client::Core::MapCall : public Call {
 public:
  MapCall(std::weak_ptr<Core> core, NodeId asked) : core_(std::move(core)), asked_(asked) {}

  void on_reply(Result<resp::Value> reply) override {
    const std::shared_ptr<Core> core = core_.lock();
    if (core != nullptr && !core->stopped_) core->on_map(asked_, std::move(reply));
  }

 private:
  std::weak_ptr<Core> core_;
  NodeId asked_;
};

Node& Client::Core::node_at(NodeId id) {
  while (nodes_.size() <= id) {
    const auto next = static_cast<NodeId>(nodes_.size());
    Endpoint endpoint{.address = router_->nodes().at(next)};
    nodes_.push_back(std::make_shared<Node>(executor_, next, settings_,
                                            std::make_shared<FixedLocator>(std::move(endpoint)),
                                            weak_from_this()));
  }
  return *nodes_[id];
}

void Client::Core::dispatch_by_slot(PendingPtr pending) {
  const std::optional<NodeId> ask = std::exchange(pending->ask, std::nullopt);
  pending->prefix = ask ? Pending::Prefix::Asking : Pending::Prefix::None;
  const std::optional<NodeId> wanted = ask ? ask : pending->command.node;
  if (wanted) {
    if (*wanted < router_->nodes().size()) {
      submit(node_at(*wanted), std::move(pending));
    } else {
      fail(std::move(pending->call), {ErrorCode::Unavailable, "no such node"});
    }
    return;
  }
  if (!router_->has_map()) {
    if (map_failure_) {
      ++stats_.fast_fails;
      fail(std::move(pending->call), *map_failure_);
    } else if (awaiting_map_.size() >= options().max_in_flight) {
      fail(std::move(pending->call), {ErrorCode::Overloaded, "too many commands are waiting"});
    } else {
      const Time deadline = pending->deadline();
      awaiting_map_.add(deadline, std::move(pending));
      arm_timer();
    }
    return;
  }
  const std::optional<NodeId> owner = router_->owner(pending->command.slot);
  if (owner) {
    submit(node_at(*owner), std::move(pending));
    return;
  }
  want_map();
  const std::string slot = std::to_string(pending->command.slot);
  send_later(std::move(pending), {ErrorCode::Unavailable, "no node has slot " + slot});
}

void Client::Core::want_map() {
  pace_.want();
  arm_timer();
}

// Queries connected nodes first.
void Client::Core::start_refresh(Time now) {
  pace_.start(now);
  map_candidates_.clear();
  for (NodeId id = 0; id < router_->nodes().size(); ++id) {
    if (node_at(id).is_connected()) map_candidates_.push_back(id);
  }
  // Rotates the first candidate: it may be partitioned from the others.
  if (!map_candidates_.empty()) {
    const std::size_t turn = refreshes_++ % map_candidates_.size();
    std::rotate(map_candidates_.begin(),
                map_candidates_.begin() + static_cast<std::ptrdiff_t>(turn), map_candidates_.end());
  }
  for (NodeId id = 0; id < router_->nodes().size(); ++id) {
    if (!node_at(id).is_connected()) map_candidates_.push_back(id);
  }
  ask_next_for_map({ErrorCode::Unavailable, "no node of the cluster can be reached"});
}

void Client::Core::ask_next_for_map(Error last) {
  while (!map_candidates_.empty()) {
    const NodeId id = map_candidates_.front();
    map_candidates_.pop_front();
    auto pending = std::make_unique<Pending>();
    pending->command.bytes = resp::command({"CLUSTER", "SLOTS"});
    pending->command.node = id;
    pending->since = base::monotonic_now();
    pending->command.deadline = pending->since + options().connect_timeout;
    pending->call = std::make_unique<MapCall>(weak_from_this(), id);
    const std::optional<Error> refused = node_at(id).submit(pending);
    if (!refused) return;
    last = *refused;
  }
  pace_.finish(RefreshPace::Outcome::Failed);
  if (!router_->has_map()) {
    map_failure_ = last;
    for (PendingPtr& pending : awaiting_map_.take_due(Time::max())) {
      fail(std::move(pending->call), last);
    }
  }
  want_map();
}

void Client::Core::on_map(NodeId answered_by, Result<resp::Value> reply) {
  if (!reply) {
    Error why = reply.error();
    // A server that is not a cluster replies "ERR This instance has cluster support disabled".
    if (why.code == ErrorCode::Protocol) why.code = ErrorCode::Misconfigured;
    ask_next_for_map(std::move(why));
    return;
  }
  const Result<ClusterRouter::Change> adopted = router_->adopt(*reply, answered_by);
  if (!adopted) {
    ask_next_for_map(
        {adopted.error().code, node_at(answered_by).address() + ": " + adopted.error().detail});
    return;
  }
  map_candidates_.clear();
  map_failure_.reset();
  pace_.finish(RefreshPace::Outcome::Answered);
  if (*adopted == ClusterRouter::Change::Some) {
    const std::string text = "cluster: slots of " + std::to_string(router_->masters().size()) +
                             " masters from " + node_at(answered_by).address();
    on_event({.kind = RedisEvent::Kind::SlotsChanged, .text = text});
  }
  for (PendingPtr& pending : awaiting_map_.take_due(Time::max())) dispatch(std::move(pending));
  arm_timer();
}

}  // namespace penstock::redis
