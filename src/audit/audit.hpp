#pragma once

#include "penstock/time.hpp"
#include "redis_store/keys/key_layout.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Evaluates the keys and servers of an audit. No I/O.
namespace penstock::audit {

// One key as read from Redis.
struct ScannedKey {
  static constexpr std::int64_t kNoTtl = -1;
  static constexpr std::int64_t kMissing = -2;

  std::string key{};
  std::string type{};  // reply to TYPE
  std::int64_t ttl_ms = kNoTtl;
  std::optional<std::int64_t> memory{};  // of sampled keys
  std::optional<std::string> bytes{};    // of strings
};

enum class KeyFault : std::uint8_t {
  None,
  UnknownName,  // has our prefix, but no known layout
  WrongType,
  Unreadable,  // not a valid state of a limit
};

[[nodiscard]] constexpr std::string_view to_string(KeyFault fault) noexcept {
  switch (fault) {
    case KeyFault::None: return "none";
    case KeyFault::UnknownName: return "unknown name";
    case KeyFault::WrongType: return "wrong type";
    case KeyFault::Unreadable: return "unreadable state";
  }
  return "unknown";
}

// The evaluation of one key.
struct KeyFinding {
  std::string kind{};   // "limit", "escrow", "counter", ... as KeyKind; "unknown" for other keys
  std::string group{};  // the name of its limit, or empty
  KeyFault fault = KeyFault::None;
  bool lacks_ttl = false;
};

[[nodiscard]] KeyFinding classify(const ScannedKey& seen, const redis_store::KeyLayout& layout);
[[nodiscard]] constexpr bool is_orphan(const KeyFinding& finding) noexcept {
  return finding.lacks_ttl || finding.fault != KeyFault::None;
}

// Reads type, TTL and bytes of one key atomically. Separate commands may see different states of
// a key.
inline constexpr const char* kReadKeyScript =
    "local kind = redis.call('TYPE', KEYS[1]).ok "
    "return {kind, redis.call('PTTL', KEYS[1]), "
    "kind == 'string' and redis.call('GET', KEYS[1])}";
// The reply of that script; empty if the key does not exist.
[[nodiscard]] std::optional<ScannedKey> scanned_key(ScannedKey key, std::string type,
                                                    std::int64_t ttl_ms, std::string bytes);

// The TTL for a key that lacks one: as long as its state needs, a year for counters, a minute for
// nodes and audits, a day for unreadable states. Empty for keys of others.
[[nodiscard]] std::optional<std::chrono::milliseconds> repair_ttl(
    const ScannedKey& seen, const redis_store::KeyLayout& layout, Instant now);

// Sums of all keys, in bounded memory.
class AuditSummary {
 public:
  static constexpr std::size_t kMaxGroups = 10'000;
  static constexpr std::size_t kGroupsShown = 50;
  static constexpr std::size_t kExamples = 5;

  struct Group {
    std::string kind{};
    std::string name{};
    std::uint64_t keys = 0;
    std::uint64_t sampled = 0;
    std::int64_t sampled_bytes = 0;

    // Extrapolated from sampled keys.
    [[nodiscard]] std::int64_t memory() const;
  };
  struct Fault {
    std::uint64_t keys = 0;
    std::vector<std::string> examples{};
  };

  void add(const ScannedKey& seen, const KeyFinding& finding);

  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  // The largest groups, then one for the rest.
  [[nodiscard]] std::vector<Group> groups() const;
  [[nodiscard]] std::int64_t memory() const;
  [[nodiscard]] const Fault& without_ttl() const noexcept { return without_ttl_; }
  // Keys without a TTL or with a fault.
  [[nodiscard]] const Fault& orphans() const noexcept { return orphans_; }
  // By kind; only kinds that were found.
  [[nodiscard]] const std::map<KeyFault, Fault>& faults() const noexcept { return faults_; }

 private:
  static void note(Fault& fault, const std::string& key);

  std::uint64_t keys_ = 0;
  std::map<std::pair<std::string, std::string>, Group> groups_;
  Group other_groups_{.kind = "other", .name = "all other names"};
  Fault orphans_;
  Fault without_ttl_;
  std::map<KeyFault, Fault> faults_;
};

// Facts about one server.
struct ServerInfo {
  std::string address{};
  std::string version{};
  std::string role{};
  std::uint64_t replicas = 0;
  std::string master_link{};  // "up" or "down", of a replica
  std::uint64_t evicted_keys = 0;
  std::uint64_t used_memory = 0;
  std::uint64_t max_memory = 0;
  std::string eviction_policy{};
  Duration clock_skew{};        // its clock minus ours
  Duration skew_uncertainty{};  // half a round trip
  std::size_t scripts = 0;      // of our scripts, loaded
  std::size_t scripts_wanted = 0;
};

// `info` is the reply to INFO.
[[nodiscard]] ServerInfo parse_server_info(std::string address, std::string_view info);

// Problems to fix.
[[nodiscard]] std::vector<std::string> server_problems(const ServerInfo& facts);

// The value of "name:value" in the reply to INFO; empty if missing.
[[nodiscard]] std::string_view info_field(std::string_view info, std::string_view name);
// The same as a number; 0 if missing.
[[nodiscard]] std::uint64_t info_number(std::string_view info, std::string_view name);

// The note about the audit of a shared store, under KeyLayout::audit(): the daemon that creates the
// key runs the audit and stores the result there.
[[nodiscard]] std::string audit_claim_note(std::string_view node);
[[nodiscard]] std::string audit_result_note(std::uint64_t orphans);

// The number of orphans in the last audit; empty while an audit runs or if the note is malformed.
[[nodiscard]] std::optional<std::uint64_t> orphans_from_note(std::string_view note);

}  // namespace penstock::audit
