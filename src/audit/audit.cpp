#include "audit/audit.hpp"

#include "base/text.hpp"
#include "core/duration_text.hpp"
#include "redis_store/replay/state_codec.hpp"

#include <algorithm>

namespace penstock::audit {
namespace {

using redis_store::KeyKind;
using redis_store::KeyName;
using std::chrono::milliseconds;

constexpr Days kCounterLife{366};  // count.lua: a year after the last addition
constexpr Days kUnreadableLife{1};
constexpr Days kOperatorLife{30};  // override.lua: the longest override
constexpr Days kLongestHold{2};    // reservation.lua, permits.lua: a day, and one to be remembered
constexpr std::chrono::minutes kShortLivedTtl{1};  // nodes and audits: renewed soon
// Limits use the clock of the server, so a small skew is harmless; a large one means that a clock
// is not synchronized, and time would jump on failover.
constexpr Duration kMaxClockSkew = std::chrono::seconds{1};

std::string kind_of(const std::optional<KeyName>& name) {
  if (!name) return "unknown";
  switch (name->kind) {
    case KeyKind::Limit: return "limit";
    case KeyKind::Escrow: return "escrow";
    case KeyKind::Counter: return "counter";
    case KeyKind::DecimalCounter: return "decimal counter";
    case KeyKind::Nodes: return "nodes";
    case KeyKind::Audit: return "audit";
    case KeyKind::Reservation: return "reservation";
    case KeyKind::Permits: return "permits";
    case KeyKind::Operators: return name->limit_name;
  }
  return "unknown";
}

// The sorted set, and what the nodes publish.
std::string_view type_of_nodes(const KeyName& name) {
  if (name.limit_name.empty()) return "zset";
  return name.limit_name == "watched" ? "string" : "hash";
}

std::string_view type_of(const KeyName& name) {
  switch (name.kind) {
    case KeyKind::Limit:
    case KeyKind::Escrow:
    case KeyKind::Audit: return "string";
    case KeyKind::Counter:
    case KeyKind::DecimalCounter: return "hash";
    case KeyKind::Nodes: return type_of_nodes(name);
    case KeyKind::Permits: return "zset";
    case KeyKind::Reservation: return name.limit_name.empty() ? "zset" : "hash";
    case KeyKind::Operators: return name.limit_name == "actions" ? "list" : "hash";
  }
  return "none";
}

// Otherwise every key would be a group.
bool is_of_limit(KeyKind kind) { return kind == KeyKind::Limit || kind == KeyKind::Escrow; }

KeyFault fault_of(const ScannedKey& seen, const std::optional<KeyName>& name) {
  if (!name) return KeyFault::UnknownName;
  if (seen.type != type_of(*name)) return KeyFault::WrongType;
  const bool unreadable =
      seen.bytes && ((name->kind == KeyKind::Limit && !redis_store::decode(*seen.bytes)) ||
                     (name->kind == KeyKind::Escrow && !redis_store::decode_escrow(*seen.bytes)));
  return unreadable ? KeyFault::Unreadable : KeyFault::None;
}

constexpr std::string_view kAuditing = "auditing ";
constexpr std::string_view kFound = "found ";

}  // namespace

KeyFinding classify(const ScannedKey& seen, const redis_store::KeyLayout& layout) {
  const std::optional<KeyName> name = redis_store::read_key(seen.key, layout);
  return {.kind = kind_of(name),
          .group = name && is_of_limit(name->kind) ? name->limit_name : std::string{},
          .fault = fault_of(seen, name),
          .lacks_ttl = seen.ttl_ms == ScannedKey::kNoTtl};
}

std::optional<ScannedKey> scanned_key(ScannedKey key, std::string type, std::int64_t ttl_ms,
                                      std::string bytes) {
  if (ttl_ms == ScannedKey::kMissing || type == "none") return std::nullopt;
  key.type = std::move(type);
  key.ttl_ms = ttl_ms;
  key.bytes.reset();
  if (key.type == "string") key.bytes = std::move(bytes);
  return key;
}

std::optional<milliseconds> repair_ttl(const ScannedKey& seen, const redis_store::KeyLayout& layout,
                                       Instant now) {
  const std::optional<KeyName> name = redis_store::read_key(seen.key, layout);
  if (!name) return std::nullopt;
  if (fault_of(seen, name) != KeyFault::None) return kUnreadableLife;
  switch (name->kind) {
    case KeyKind::Nodes:
    case KeyKind::Audit: return kShortLivedTtl;
    case KeyKind::Reservation:
    case KeyKind::Permits: return kLongestHold;
    case KeyKind::Operators: return kOperatorLife;
    case KeyKind::Escrow:  // needed until its bucket is full, and only the bucket has that time
    case KeyKind::Counter:
    case KeyKind::DecimalCounter: return kCounterLife;
    case KeyKind::Limit: break;
  }
  const auto content = seen.bytes ? redis_store::decode(*seen.bytes) : std::nullopt;
  if (!content) return kUnreadableLife;
  const Instant expires{milliseconds{content->expires_ms}};
  const Instant needed = std::max(expires, content->blocked_until);
  // A state that is no longer needed gets the shortest TTL that PEXPIRE accepts.
  return std::max(std::chrono::ceil<milliseconds>(needed - now), milliseconds{1});
}

std::int64_t AuditSummary::Group::memory() const {
  if (sampled == 0) return 0;
  return static_cast<std::int64_t>(static_cast<double>(sampled_bytes) /
                                   static_cast<double>(sampled) * static_cast<double>(keys));
}

void AuditSummary::note(Fault& fault, const std::string& key) {
  ++fault.keys;
  if (fault.examples.size() < kExamples) fault.examples.push_back(key);
}

void AuditSummary::add(const ScannedKey& seen, const KeyFinding& finding) {
  ++keys_;
  const auto id = std::pair(finding.kind, finding.group);
  auto known = groups_.find(id);
  if (known == groups_.end() && groups_.size() < kMaxGroups) {
    known = groups_.emplace(id, Group{.kind = finding.kind, .name = finding.group}).first;
  }
  Group& group = known == groups_.end() ? other_groups_ : known->second;
  ++group.keys;
  if (seen.memory) {
    ++group.sampled;
    group.sampled_bytes += *seen.memory;
  }
  if (is_orphan(finding)) note(orphans_, seen.key);
  if (finding.lacks_ttl) note(without_ttl_, seen.key);
  if (finding.fault != KeyFault::None) note(faults_[finding.fault], seen.key);
}

std::vector<AuditSummary::Group> AuditSummary::groups() const {
  std::vector<Group> all;
  for (const auto& [id, group] : groups_) all.push_back(group);
  std::stable_sort(all.begin(), all.end(),
                   [](const Group& a, const Group& b) { return a.keys > b.keys; });
  Group others = other_groups_;
  for (std::size_t i = kGroupsShown; i < all.size(); ++i) {
    others.keys += all[i].keys;
    others.sampled += all[i].sampled;
    others.sampled_bytes += all[i].sampled_bytes;
  }
  if (all.size() > kGroupsShown) all.resize(kGroupsShown);
  if (others.keys > 0) all.push_back(others);
  return all;
}

std::int64_t AuditSummary::memory() const {
  std::int64_t sum = other_groups_.memory();
  for (const auto& [id, group] : groups_) sum += group.memory();
  return sum;
}

std::string_view info_field(std::string_view info, std::string_view name) {
  for (std::size_t at = 0; at < info.size();) {
    const std::size_t end = std::min(info.find("\r\n", at), info.size());
    const std::string_view line = info.substr(at, end - at);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      return line.substr(name.size() + 1);
    }
    at = end + 2;
  }
  return {};
}

std::uint64_t info_number(std::string_view info, std::string_view name) {
  return base::parse_number<std::uint64_t>(info_field(info, name)).value_or(0);
}

ServerInfo parse_server_info(std::string address, std::string_view info) {
  return {.address = std::move(address),
          .version = std::string(info_field(info, "redis_version")),
          .role = std::string(info_field(info, "role")),
          .replicas = info_number(info, "connected_slaves"),
          .master_link = std::string(info_field(info, "master_link_status")),
          .evicted_keys = info_number(info, "evicted_keys"),
          .used_memory = info_number(info, "used_memory"),
          .max_memory = info_number(info, "maxmemory"),
          .eviction_policy = std::string(info_field(info, "maxmemory_policy"))};
}

std::vector<std::string> server_problems(const ServerInfo& facts) {
  std::vector<std::string> found;
  const auto add_problem = [&](const std::string& what) {
    found.push_back(facts.address + ": " + what);
  };
  if (facts.max_memory > 0 && facts.eviction_policy != "noeviction") {
    add_problem("maxmemory-policy is " + facts.eviction_policy +
                ": Redis may evict the usage of a key, which resets its limit; set noeviction");
  }
  if (facts.evicted_keys > 0) {
    add_problem(std::to_string(facts.evicted_keys) +
                " keys were evicted since its start; some may have been limits in use");
  }
  if (facts.role != "master") {
    add_problem("its role is \"" + facts.role + "\"; limits need a master");
  }
  if (facts.master_link == "down") add_problem("its link to the master is down");
  const Duration skew = std::chrono::abs(facts.clock_skew);
  if (skew > kMaxClockSkew + facts.skew_uncertainty) {
    add_problem("its clock differs from that of this machine by " + core::rounded_up_text(skew));
  }
  return found;
}

std::string audit_claim_note(std::string_view node) {
  return std::string(kAuditing) + std::string(node);
}

std::string audit_result_note(std::uint64_t orphans) {
  return std::string(kFound) + std::to_string(orphans);
}

std::optional<std::uint64_t> orphans_from_note(std::string_view note) {
  if (!note.starts_with(kFound)) return std::nullopt;
  note.remove_prefix(kFound.size());
  return base::parse_number<std::uint64_t>(note);
}

}  // namespace penstock::audit
