#pragma once

#include "core/named_check.hpp"
#include "penstock/quota.hpp"
#include "rules/model/rollout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace penstock::rules {

// The free-form `metadata` of a descriptor of envoyproxy/ratelimit: anything that JSON can say. It
// has no effect on decisions; gRPC answers return it to Envoy.
struct MetadataValue;
using MetadataList = std::vector<MetadataValue>;
using MetadataMap = std::vector<std::pair<std::string, MetadataValue>>;  // in declared order
struct MetadataValue {
  std::variant<std::monostate, bool, double, std::string, MetadataList, MetadataMap> value{};
};

// What to answer when the store is unavailable.
enum class OnFailure : std::uint8_t {
  Open,    // allow
  Closed,  // deny
  Local,   // this node enforces its share of the limit
};

// What happens to a request that lacks an attribute of a rule's key.
enum class IfMissing : std::uint8_t {
  Skip,        // the rule does not apply
  Deny,        // the request is denied
  CountAsOne,  // all such requests share one key: the attribute counts as empty
};

enum class Action : std::uint8_t {
  Limit,      // count, and deny above the limit
  Unlimited,  // matches, and sets no limit
  Allow,      // of an allow list: nothing limits this request
  Deny,       // of a deny list: this request is denied
};

// Where a rule was written.
struct Source {
  std::string file;
  std::size_t line = 0;
};

struct RuleLimit {
  std::string name;  // within the rule; empty when it has one limit only
  Quota quota;
  friend bool operator==(const RuleLimit&, const RuleLimit&) = default;
};

// An attribute of a rule's key. Addresses are reduced to their network.
struct KeyPart {
  std::string name;
  std::optional<unsigned> ipv4_prefix{};  // both or none: the value is an address
  std::optional<unsigned> ipv6_prefix{};
  friend bool operator==(const KeyPart&, const KeyPart&) = default;
};

// A validated rule without its conditions, which the matcher has. Immutable; owned by its Ruleset.
struct Rule {
  std::size_t index = 0;  // index among all rules of the Ruleset
  std::string domain;
  std::string name;          // unique in the domain
  std::string given_name{};  // Envoy: the limit's name in responses and in `replaces`
  std::string description{};
  std::string metric{};  // label in metrics: "api/search-free", Envoy: "api.key_value"
  Action action = Action::Limit;
  std::vector<RuleLimit> limits{};  // empty unless the action is Limit
  std::vector<KeyPart> key{};       // in the order of the subject; empty: one key for all
  IfMissing if_missing = IfMissing::Skip;
  OnFailure on_failure = OnFailure::Open;
  core::SharingTerms terms{};        // where its limits are decided
  bool shadow = false;               // evaluated and counted, never enforced
  bool quota_mode = false;           // Envoy: denies only when all other such limits deny
  bool count_denied = false;         // a denied request is charged the remaining quota
  std::optional<Rollout> rollout{};  // set unless it is enforced for all, or for none
  BasisPoints near_limit = 0;        // usage that is counted and logged; 0: none
  MetadataMap metadata{};            // Envoy: returned with requests that this rule allows
  Source source{};
};

// Whether the roll-out of a rule includes this subject. A rule without a key has one subject for
// all requests: it is enforced when that is for all. REQUIRES: rule.rollout is set.
[[nodiscard]] inline bool is_enforced_for(const Rule& rule, std::string_view subject) noexcept {
  if (rule.rollout->enforce == kWhole) return true;
  return !rule.key.empty() &&
         rollout_place(rule.domain, rule.name, subject) < rule.rollout->enforce;
}

}  // namespace penstock::rules
