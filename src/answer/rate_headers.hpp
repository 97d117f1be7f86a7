#pragma once

#include "penstock/clock.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "rules/model/ruleset.hpp"
#include "rules/settings/settings.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {
class TextWriter;
}  // namespace penstock::http

// Rate limit header fields, in the drafts that exist (docs/reference/headers.md). All waits are
// rounded up: a client that waits that long is admitted.
namespace penstock::answer {

// A limit as draft 08 writes it.
struct PolicyHeader {
  std::string name;    // "search"
  std::string policy;  // "search";q=600;w=60;penstock-burst=100
};
[[nodiscard]] PolicyHeader policy_header(std::string_view name, const Quota& quota);

struct NamedDecision {
  std::string name;
  Quota quota;
  Decision decision;
  const PolicyHeader* cached_policy = nullptr;  // in place of the name, if it is cached
};

// Receives header fields; it chooses where their values are written.
class FieldSink {
 public:
  FieldSink() = default;
  FieldSink(const FieldSink&) = delete;
  FieldSink& operator=(const FieldSink&) = delete;
  virtual ~FieldSink() = default;

  // Valid until the next; REQUIRES: the name lives as long.
  [[nodiscard]] virtual http::TextWriter& add(std::string_view name) = 0;
};

// The limits that are enforced, and which of them answers.
struct RateLimitInfo {
  std::vector<NamedDecision> limits{};
  std::optional<std::size_t> strictest{};
  const Clock* clock = &system_clock();  // of the decisions
};

// How long to wait, in whole seconds, at least one. Empty when allowed, and when waiting does not
// help.
[[nodiscard]] std::optional<std::chrono::seconds> retry_seconds(const Decision& decision);

// Drafts 06, 07 and 08 share field names, and so do the two forms of X-RateLimit: the first one
// given is used. Retry-After is on every
// denial that ends by waiting, whatever the drafts.
using HeaderFields = std::vector<std::pair<std::string, std::string>>;
void add_rate_headers(HeaderFields& fields, std::span<const rules::HeaderDraft> drafts,
                      const RateLimitInfo& info);
void add_rate_headers(FieldSink& fields, std::span<const rules::HeaderDraft> drafts,
                      const RateLimitInfo& info);

// A text as a String of structured fields (RFC 9651): quoted, escaped; bytes that it cannot hold
// are percent-encoded.
[[nodiscard]] std::string structured_string(std::string_view text);
// Fifteen digits at the most, as structured fields allow.
[[nodiscard]] std::string structured_integer(std::uint64_t value);

// The name of a limit within its rule; empty when the rule has one limit only.
[[nodiscard]] std::string_view limit_name(const rules::MatchedLimit& matched) noexcept;
// How header fields call a limit: as its rule, with its own name where the rule has several.
[[nodiscard]] std::string policy_name(const rules::MatchedLimit& matched);

// Policy header fields of the rules in force. They are the same for every request: written on first
// use, and kept as long as the rules.
//
// Thread-safety: none.
class PolicyHeaderCache {
 public:
  // Switches to these rules. Fields of other rules, which find() returned, become invalid.
  void use(const std::shared_ptr<const rules::Ruleset>& rules);
  // Null for a limit that is not as the rules have it: it travelled with the request, or its quota
  // is an override.
  [[nodiscard]] const PolicyHeader* find(const rules::MatchedLimit& matched);

 private:
  std::shared_ptr<const rules::Ruleset> rules_;
  std::vector<std::vector<PolicyHeader>> by_rule_;  // by Rule::index, and by limit
};

}  // namespace penstock::answer
