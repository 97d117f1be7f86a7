#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::redis_store {

// How keys are named in Redis; docs/redis-keys.md is the description for people.
//
//     penstock:1:l:{alice}               what alice has used
//     penstock:1:l:{alice}:per-second    the same under a limit with a name
//     penstock:1:e:{alice}:per-second    what is leased of it, by strict leases
//     penstock:1:c:{downloads}           a counter
//     penstock:1:d:{spent}               a decimal counter
//     penstock:1:n:{nodes}               which nodes are alive
//     penstock:1:a:{audit}               who audits the store, or what the last audit found
//     penstock:1:r:{reservations}        which reservations are open
//     penstock:1:r:{reservations}:42     one of them
//     penstock:1:s:{uploads}             who has a permit of uploads
//
// What stands in braces decides where a key lives in a cluster, so that all of one subject are
// together. Bytes that mean something here are percent-encoded, so that no two subjects share a
// key; a subject that would be longer than 200 bytes is replaced by a hash of it.
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
  [[nodiscard]] std::string audit() const;

  // The channel on which it is told that a count was changed by hand.
  [[nodiscard]] std::string changes() const { return start_ + "changed"; }
  [[nodiscard]] std::string reservations() const;
  [[nodiscard]] std::string reservation(std::string_view id) const;
  [[nodiscard]] std::string permits(std::string_view key) const;

  // What all of our keys start with.
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
  Permits = 's'
};

// What a key of ours is for.
struct KeyName {
  KeyKind kind = KeyKind::Limit;
  std::string subject;     // as given; "#" and a hash when it was too long
  std::string limit_name;  // empty for a limit without a name; the id of a reservation
};

// Empty for a key that KeyLayout would not write.
[[nodiscard]] std::optional<KeyName> read_key(std::string_view key, const KeyLayout& layout);

}  // namespace penstock::redis_store
