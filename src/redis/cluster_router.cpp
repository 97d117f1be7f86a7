#include "redis/cluster_router.hpp"

#include "base/check.hpp"
#include "redis/server_error.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace penstock::redis {

namespace {

using Type = resp::Value::Type;

bool is_slot(const resp::Value& value) {
  return value.is(Type::Integer) && value.integer >= 0 && value.integer < kHashSlots;
}

// [first slot, last slot, [host, port, …] of the master, replicas …]
bool is_range(const resp::Value& value) {
  if (!value.is(Type::Array) || value.elements.size() < 3) return false;
  const resp::Value& master = value.elements[2];
  return is_slot(value.elements[0]) && is_slot(value.elements[1]) &&
         value.elements[0].integer <= value.elements[1].integer && master.is(Type::Array) &&
         master.elements.size() >= 2 &&
         (master.elements[0].is(Type::String) || master.elements[0].is(Type::Nil)) &&
         master.elements[1].is(Type::Integer) && master.elements[1].integer > 0 &&
         master.elements[1].integer <= std::numeric_limits<std::uint16_t>::max();
}

}  // namespace

Result<std::vector<SlotRange>> read_slot_ranges(const resp::Value& reply,
                                                std::string_view answered_by) {
  const Error unreadable{ErrorCode::Protocol, "the reply to CLUSTER SLOTS is malformed"};
  if (!reply.is(Type::Array)) return unreadable;
  std::vector<SlotRange> ranges;
  for (const resp::Value& entry : reply.elements) {
    if (!is_range(entry)) return unreadable;
    const std::vector<resp::Value>& master = entry.elements[2].elements;
    const std::string& host = master[0].text;
    if (host == "?") continue;
    ranges.push_back({.first = static_cast<std::uint16_t>(entry.elements[0].integer),
                      .last = static_cast<std::uint16_t>(entry.elements[1].integer),
                      .master = {.host = host.empty() ? std::string(answered_by) : host,
                                 .port = static_cast<std::uint16_t>(master[1].integer)}});
  }
  return ranges;
}

std::optional<NodeId> SlotMap::owner(std::uint16_t slot) const {
  if (slot >= kHashSlots || owners_[slot] == kNoNode) return std::nullopt;
  return owners_[slot];
}

void SlotMap::assign(std::uint16_t first, std::uint16_t last, NodeId node) {
  PENSTOCK_CHECK(first <= last && last < kHashSlots);
  std::fill(owners_.begin() + first, owners_.begin() + last + 1, node);
}

std::vector<NodeId> SlotMap::owners() const {
  std::set<NodeId> owners(owners_.begin(), owners_.end());
  owners.erase(kNoNode);
  return {owners.begin(), owners.end()};
}

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
