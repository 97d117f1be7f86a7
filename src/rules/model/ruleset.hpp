#pragma once

#include "core/named_check.hpp"
#include "rules/model/request.hpp"
#include "rules/model/rule.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// One limit that holds for a request. Points into the Ruleset that matched.
struct MatchedLimit {
  const Rule* rule = nullptr;  // null for a limit that travelled with the request
  std::size_t limit = 0;       // which of the rule's
  std::size_t descriptor = 0;  // which of the request's
  core::NamedCheck check;      // the quota may be an override of the rule's
  bool is_refund = false;
  std::string metric{};  // in place of the rule's, where it depends on the request
  OnFailure on_failure = OnFailure::Open;  // of a limit without a rule
};

// What the rules say about one descriptor.
enum class DescriptorOutcome : std::uint8_t {
  NoRule,
  Limited,
  Unlimited,
  Allowed,
  Denied,
  Replaced
};

// What the answer is for a domain without rules.
enum class UnknownDomain : std::uint8_t { Allow, Deny };

struct Match {
  bool domain_known = false;
  bool unknown_domain_denied = false;  // the domain is unknown, and such requests are denied
  // No two have the same key, quota and is_refund: Ruleset merges them.
  std::vector<MatchedLimit> limits{};
  std::vector<DescriptorOutcome> descriptors{};  // as many as the request has
  const Rule* list_entry = nullptr;  // the allow or deny list entry that settles the request
  // The rule that denies the request because an attribute of its key is missing. Never set beside
  // list_entry.
  const Rule* missing_key_rule = nullptr;
};

// Why a rule applies or does not, for people.
struct RuleReport {
  const Rule* rule = nullptr;
  bool matched = false;
  std::string reason{};  // "path \"/v2\" is not /v1/**"
};
struct Explanation {
  Match match{};
  std::vector<RuleReport> rules{};  // all of the domain that were looked at, in their order
  bool cut_short = false;           // more rules than anybody reads were left out
};

// The rules in force: immutable, shared by all workers, replaced as a whole.
//
// Thread-safety: all members, from any thread.
class Ruleset {
 public:
  Ruleset();
  ~Ruleset();
  Ruleset(const Ruleset&) = delete;
  Ruleset& operator=(const Ruleset&) = delete;

  // Which limits apply. The cost does not grow with the number of rules that do not.
  [[nodiscard]] Match match(const Request& request) const;
  // The same with reasons, for every rule of the domain.
  [[nodiscard]] Explanation explain(const Request& request) const;

  [[nodiscard]] const std::vector<std::unique_ptr<const Rule>>& rules() const noexcept;
  // Null when there is none.
  [[nodiscard]] const Rule* find(std::string_view domain, std::string_view rule) const;
  [[nodiscard]] bool has_domain(std::string_view domain) const;
  // The count that a rule keeps for a subject written as people do ("api_key=abc").
  [[nodiscard]] static core::LimitKey limit_key(const Rule& rule, std::size_t limit,
                                                std::string_view subject);
  // The quotas that hold for such a subject, as many as the rule has limits: an override's, where
  // the subject says enough to find it. None when that says unlimited.
  [[nodiscard]] std::vector<Quota> quotas_for(const Rule& rule, std::string_view subject) const;
  // Rules that count by exactly the attributes of this subject, to block it everywhere.
  [[nodiscard]] std::vector<const Rule*> rules_keyed_by(std::string_view domain,
                                                        std::string_view subject) const;

 private:
  friend class RulesetBuilder;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::rules
