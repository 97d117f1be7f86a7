#pragma once

#include "core/sharing_terms.hpp"
#include "penstock/quota.hpp"
#include "rules/model/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::rules {

// What to answer when the store cannot be asked.
enum class OnFailure : std::uint8_t {
  Open,    // let it pass
  Closed,  // refuse it
  Local,   // this node alone enforces its share of the limit
};

// What happens to a request that lacks an attribute of a rule's key.
enum class IfMissing : std::uint8_t {
  Skip,        // the rule does not apply
  Deny,        // the request is denied
  CountAsOne,  // all such requests share one count: the attribute counts as empty
};

enum class Action : std::uint8_t {
  Limit,      // the usual: count, and refuse above the limit
  Unlimited,  // matches, and sets no limit
  Allow,      // of an allow list: nothing limits this request
  Deny,       // of a deny list: this request is refused
};

// Where a rule was written.
struct Source {
  std::string file;
  std::size_t line = 0;
};

struct RuleLimit {
  std::string name;  // within the rule; empty when it has one limit only
  Quota quota;
};

// One of the attributes that a rule counts by. Addresses are cut to their network.
struct KeyPart {
  std::string name;
  std::optional<unsigned> ipv4_prefix{};  // both or none: the value is an address
  std::optional<unsigned> ipv6_prefix{};
};

// What somebody wrote down about some requests, checked, and without the conditions, which are the
// matcher's. Immutable; belongs to its Ruleset.
struct Rule {
  std::size_t index = 0;  // its place among all rules of the Ruleset, for tables beside it
  std::string domain;
  std::string name;          // unique in the domain
  std::string given_name{};  // what Envoy calls its limit in answers and in `replaces`, if anything
  std::string description{};
  std::string metric{};  // how metrics call it: "api/search-free", Envoy: "api.key_value"
  Action action = Action::Limit;
  std::vector<RuleLimit> limits{};  // empty unless the action is Limit
  std::vector<KeyPart> key{};       // in the order of the subject; empty: one count for all
  IfMissing if_missing = IfMissing::Skip;
  OnFailure on_failure = OnFailure::Open;
  core::SharingTerms terms{};  // where its limits are decided
  bool shadow = false;         // evaluated and counted, never enforced
  bool quota_mode = false;     // Envoy: refuses only when all others of its kind refuse as well
  bool count_denied = false;   // a refused request takes what is left
  MetadataMap metadata{};      // Envoy: returned with answers that this rule lets pass
  Source source{};
};

}  // namespace penstock::rules
