#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::redis_store {

// Names of keys in Redis; docs/reference/redis-keys.md describes them for operators.
//
//     penstock:1:l:{alice}               usage of alice
//     penstock:1:l:{alice}:per-second    the same under a named limit
//     penstock:1:e:{alice}:per-second    escrow of its strict leases
//     penstock:1:c:{downloads}           a counter
//     penstock:1:d:{spent}               a decimal counter
//     penstock:1:n:{nodes}               the live nodes
//     penstock:1:n:{nodes}:summaries     what they publish: summaries, histories, watched
//     penstock:1:a:{audit}               lock and result of the audit
//     penstock:1:r:{reservations}        the open reservations
//     penstock:1:r:{reservations}:42     one reservation
//     penstock:1:s:{uploads}             the permit holders of uploads
//     penstock:1:o:{operators}:overrides the live overrides
//     penstock:1:o:{operators}:actions   the action log
//
// The hash tag in braces determines the slot in a cluster, so that all keys of one subject share
// it. Bytes with a meaning here are percent-encoded, so that no two subjects share a key; a subject
// longer than 200 bytes is replaced by its hash.
class KeyLayout {
 public:
  static constexpr std::size_t kMaxPartLength = 200;

  explicit KeyLayout(std::string_view prefix) : start_(std::string(prefix) + ":1:") {}

  [[nodiscard]] std::string limit(std::string_view subject) const;
  [[nodiscard]] std::string limit(std::string_view subject, std::string_view name) const;
  // Of the same subject and name, and in the same slot, as limit().
  [[nodiscard]] std::string escrow(std::string_view subject) const;
  [[nodiscard]] std::string escrow(std::string_view subject, std::string_view name) const;
  [[nodiscard]] std::string counter(std::string_view name) const;
  [[nodiscard]] std::string decimal_counter(std::string_view name) const;

  [[nodiscard]] std::string nodes() const;
  // In the slot of nodes().
  [[nodiscard]] std::string node_summaries() const;
  [[nodiscard]] std::string node_histories() const;
  [[nodiscard]] std::string nodes_watched() const;
  [[nodiscard]] std::string audit() const;

  // The channel that announces changed keys.
  [[nodiscard]] std::string changes() const { return start_ + "changed"; }
  [[nodiscard]] std::string reservations() const;
  [[nodiscard]] std::string reservation(std::string_view id) const;
  [[nodiscard]] std::string permits(std::string_view key) const;
  [[nodiscard]] std::string overrides() const;
  [[nodiscard]] std::string actions() const;

  // The common prefix of all our keys.
  [[nodiscard]] const std::string& start() const noexcept { return start_; }

 private:
  std::string start_;
};

enum class KeyKind : char {
  Limit = 'l',
  Escrow = 'e',
  Counter = 'c',
  DecimalCounter = 'd',
  Nodes = 'n',
  Audit = 'a',
  Reservation = 'r',
  Permits = 's',
  Operators = 'o'
};

// The parsed name of a key.
struct KeyName {
  KeyKind kind = KeyKind::Limit;
  std::string subject;     // as passed; "#" and a hash when it was too long
  std::string limit_name;  // empty for a limit without a name; the id of a reservation;
                           // of Operators: "overrides" or "actions"
};

// Empty for a key that KeyLayout would not write.
[[nodiscard]] std::optional<KeyName> read_key(std::string_view key, const KeyLayout& layout);

}  // namespace penstock::redis_store
