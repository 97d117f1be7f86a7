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

// A limit that applies to a request. Refers to the Ruleset that matched.
struct MatchedLimit {
  const Rule* rule = nullptr;  // null for a limit sent with the request
  std::size_t limit = 0;       // which of the rule's
  std::size_t descriptor = 0;  // which of the request's
  core::NamedCheck check;      // the quota may be an override of the rule's
  bool is_refund = false;
  bool shadow = false;                     // not enforced for this request, whatever the rule says
  std::string metric{};                    // replaces the rule's, where it depends on the request
  OnFailure on_failure = OnFailure::Open;  // of a limit without a rule
};

// The result of matching one descriptor.
enum class DescriptorOutcome : std::uint8_t {
  NoRule,
  Limited,
  Unlimited,
  Allowed,
  Denied,
  Replaced
};

// The answer for a domain without rules.
enum class UnknownDomain : std::uint8_t { Allow, Deny };

struct Match {
  bool domain_known = false;
  bool unknown_domain_denied = false;  // the domain is unknown, and such requests are denied
  // No two have the same key, quota and is_refund: Ruleset merges them.
  std::vector<MatchedLimit> limits{};
  std::vector<DescriptorOutcome> descriptors{};  // one per descriptor of the request
  const Rule* list_entry = nullptr;  // the allow or deny list entry that decides the request
  // The rule that denies the request because an attribute of its key is missing. Never set beside
  // list_entry.
  const Rule* missing_key_rule = nullptr;
};

// Why a rule applies or not, as text.
struct RuleReport {
  const Rule* rule = nullptr;
  bool matched = false;
  std::string reason{};  // "path \"/v2\" is not /v1/**"
};
struct Explanation {
  Match match{};
  std::vector<RuleReport> rules{};  // of the domain, in their order
  bool cut_short = false;           // some rules were omitted
};

// The active rules: immutable, shared by all workers, replaced as a whole.
//
// Thread-safety: all members, from any thread.
class Ruleset {
 public:
  Ruleset();
  ~Ruleset();
  Ruleset(const Ruleset&) = delete;
  Ruleset& operator=(const Ruleset&) = delete;

  // The limits that apply. The cost does not grow with the number of rules that do not match.
  [[nodiscard]] Match match(const Request& request) const;
  // The same with reasons, for every rule of the domain.
  [[nodiscard]] Explanation explain(const Request& request) const;

  [[nodiscard]] const std::vector<std::unique_ptr<const Rule>>& rules() const noexcept;
  // Null when there is none.
  [[nodiscard]] const Rule* find(std::string_view domain, std::string_view rule) const;
  [[nodiscard]] bool has_domain(std::string_view domain) const;
  // The attributes that a rule reads. Empty for descriptors of Envoy, which have no attributes.
  [[nodiscard]] std::optional<std::vector<std::string>> attributes_of(const Rule& rule) const;
  // The key of a rule's limit for a subject written by hand ("api_key=abc").
  [[nodiscard]] static core::LimitKey limit_key(const Rule& rule, std::size_t limit,
                                                std::string_view subject);
  // The quotas for such a subject, one per limit of the rule: those of an override, when the
  // subject is enough to find it. Empty: unlimited.
  [[nodiscard]] std::vector<Quota> quotas_for(const Rule& rule, std::string_view subject) const;
  // Whether the subject has exactly the attributes that the rule counts by.
  [[nodiscard]] static bool is_subject_of(const Rule& rule, std::string_view subject);
  // The rules of the domain that count by the attributes of this subject, to block it everywhere.
  [[nodiscard]] std::vector<const Rule*> rules_keyed_by(std::string_view domain,
                                                        std::string_view subject) const;

 private:
  friend class RulesetBuilder;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::rules
