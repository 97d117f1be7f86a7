#pragma once

#include "base/deadline.hpp"
#include "penstock/time.hpp"
#include "store/answered.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::store {

// A temporary change of a rule, made by an operator while the daemons run.
struct Override {
  enum class Effect : std::uint8_t {
    Limit,     // another quota
    Multiply,  // the quota times a factor
    Shadow,    // denials are not enforced
  };

  std::string rule;       // "api/search", or "api/search/minute" for one limit of several
  std::string subject{};  // "user=42"; empty: the whole rule
  Effect effect = Effect::Shadow;
  std::string value{};  // the quota or the factor, as the operator wrote it; empty for Shadow
  std::string reason{};
  std::string by{};  // the operator
  Instant set_at{};
  Instant expires_at{};

  friend bool operator==(const Override&, const Override&) = default;
};
// "limit 500/m", "multiply 2", "shadow".
[[nodiscard]] std::string effect_text(const Override& set);

// An entry of the action log.
struct OperatorAction {
  enum class Kind : std::uint8_t { Block, Unblock, Reset, OverrideSet, OverrideRemove };

  Kind kind = Kind::Block;
  std::string by{};
  std::string rule{};    // of one rule
  std::string domain{};  // of all rules of a domain
  std::string subject{};
  std::string detail{};
  std::string reason{};
  Instant at{};                         // set by the store
  std::optional<Instant> expires_at{};  // set by the store

  friend bool operator==(const OperatorAction&, const OperatorAction&) = default;
};
// "block", "override_set".
[[nodiscard]] std::string_view to_string(OperatorAction::Kind kind) noexcept;
[[nodiscard]] std::optional<OperatorAction::Kind> parse_action_kind(std::string_view name) noexcept;

// The log entry of an override that was set or removed, without its times.
[[nodiscard]] OperatorAction action_of(const Override& set, OperatorAction::Kind kind);

// The error of one override more than kMaxOverrides.
[[nodiscard]] Error too_many_overrides();

// Of no list.
inline constexpr std::uint64_t kUnknownVersion = ~std::uint64_t{0};

// All overrides that have not expired, in the order of rule and subject. `version` changes with
// every change; the list is empty when it is the version that the caller knows.
struct OverrideList {
  std::uint64_t version = 0;
  std::optional<std::vector<Override>> overrides{};

  friend bool operator==(const OverrideList&, const OverrideList&) = default;
};

// What operators set and did: overrides, and the log of their actions. Shared by all nodes.
//
// Thread-safety: none; everything happens on one event loop.
class OperatorStore {
 public:
  static constexpr std::size_t kMaxOverrides = 1000;
  static constexpr std::size_t kMaxActions = 1000;  // older ones are dropped
  static constexpr Duration kMaxLifetime = Days{30};
  // The action log is kept for this long after the last action.
  static constexpr Duration kKeepActions = Days{90};

  OperatorStore() = default;
  OperatorStore(const OperatorStore&) = delete;
  OperatorStore& operator=(const OperatorStore&) = delete;
  virtual ~OperatorStore() = default;

  // Sets the override of this rule and subject for this time, replaces the previous one, and logs
  // the action. Answers it with its times. CapacityExhausted when there are kMaxOverrides others.
  // REQUIRES: 0 < lasts <= kMaxLifetime.
  virtual void set_override(Override set, Duration lasts, base::Deadline deadline,
                            Answered<Override> answered) = 0;
  // Removes the override with this rule and subject and logs the action, with `by` and `reason` of
  // the argument. Answers the removed one; empty, and nothing is logged, when there is none.
  virtual void remove_override(Override removed, base::Deadline deadline,
                               Answered<std::optional<Override>> answered) = 0;
  virtual void list_overrides(std::uint64_t known_version, base::Deadline deadline,
                              Answered<OverrideList> answered) = 0;

  // Logs an action whose effect lasts for this time; zero: no expiry. Answers true.
  virtual void append_action(OperatorAction action, Duration lasts, base::Deadline deadline,
                             Answered<bool> answered) = 0;
  // The last actions, the newest first.
  virtual void list_actions(std::size_t most, base::Deadline deadline,
                            Answered<std::vector<OperatorAction>> answered) = 0;
};

}  // namespace penstock::store
