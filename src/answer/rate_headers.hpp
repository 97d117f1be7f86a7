#pragma once

#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "rules/settings/settings.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {
class TextWriter;
}  // namespace penstock::http

// Rate limit header fields, in the drafts that exist (docs/headers.md). All waits are rounded up: a
// client that waits that long is admitted.
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
};

// How long to wait, in whole seconds, at least one. Empty when allowed, and when waiting does not
// help.
[[nodiscard]] std::optional<std::chrono::seconds> retry_seconds(const Decision& decision);

// Drafts 06, 07 and 08 share field names: the first one given is used. Retry-After is on every
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

}  // namespace penstock::answer
