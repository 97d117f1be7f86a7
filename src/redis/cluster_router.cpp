#include "redis/cluster_router.hpp"

#include "redis/retry.hpp"

#include <algorithm>
#include <utility>

namespace penstock::redis {

ClusterRouter::ClusterRouter(std::vector<HostPort> seeds) : nodes_(std::move(seeds)) {}

bool ClusterRouter::is_master(NodeId node) const {
  return std::binary_search(masters_.begin(), masters_.end(), node);
}

NodeId ClusterRouter::id_of(const HostPort& address) {
  const auto known = std::find(nodes_.begin(), nodes_.end(), address);
  if (known == nodes_.end()) {
    nodes_.push_back(address);
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  return static_cast<NodeId>(known - nodes_.begin());
}

Result<ClusterRouter::Change> ClusterRouter::adopt(const resp::Value& reply, NodeId answered_by) {
  const Result<std::vector<SlotRange>> ranges =
      read_slot_ranges(reply, nodes_.at(answered_by).host);
  if (!ranges) return ranges.error();
  if (ranges->empty()) return Error{ErrorCode::Unavailable, "the cluster has no slots yet"};
  SlotMap map;
  for (const SlotRange& range : *ranges) map.assign(range.first, range.last, id_of(range.master));
  const bool is_new = !has_map_ || map != map_;
  map_ = std::move(map);
  masters_ = map_.owners();
  has_map_ = true;
  return is_new ? Change::Some : Change::None;
}

NodeId ClusterRouter::target_of(const ServerError& redirect, NodeId answered_by) {
  const std::string& host = redirect.host.empty() ? nodes_.at(answered_by).host : redirect.host;
  return id_of({.host = host, .port = redirect.port});
}

ClusterRouter::Action ClusterRouter::on_error(const ServerError& error, std::string_view text,
                                              NodeId answered_by, unsigned attempts) {
  const bool is_prompt = attempts < kPromptAttempts;
  switch (error.kind) {
    case ErrorKind::Moved:
      map_.assign(error.slot, error.slot, target_of(error, answered_by));
      masters_ = map_.owners();
      return {.step = is_prompt ? Step::Resend : Step::Later, .refresh = Refresh::Yes};
    case ErrorKind::Ask:
      if (!is_prompt) return {.step = Step::Later};
      return {.step = Step::Ask, .node = target_of(error, answered_by)};
    case ErrorKind::TryAgain: return {.step = Step::Later};
    case ErrorKind::NoScript: return {.step = Step::WithScriptText};
    case ErrorKind::Unavailable:
      if (retry_after(error, text) == Retry::No) return {.step = Step::Deliver};
      return {.step = Step::Later, .refresh = Refresh::Yes};
    case ErrorKind::Misconfigured:
    case ErrorKind::WrongType:
    case ErrorKind::Other: break;
  }
  return {.step = Step::Deliver};
}

std::optional<RefreshPace::Time> RefreshPace::due() const {
  if (!wanted_ || in_flight_) return std::nullopt;
  return last_ ? *last_ + pause_ : Time{};
}

void RefreshPace::start(Time now) {
  wanted_ = false;
  in_flight_ = true;
  last_ = now;
}

void RefreshPace::finish(Outcome outcome) {
  in_flight_ = false;
  pause_ = outcome == Outcome::Answered ? kMinPause : std::min(pause_ * 2, kMaxPause);
}

}  // namespace penstock::redis
