#pragma once

#include "apps/command_line/style.hpp"
#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"
#include "rules/model/ruleset.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// The output of `penstock explain`: one report, from rules or from the answer of a daemon.
namespace penstock::app {

// The rules and limits of a request. REQUIRES: the referenced objects outlive it.
struct Explained {
  const rules::Request* request = nullptr;
  const rules::Explanation* explanation = nullptr;
  std::span<const Decision> decisions{};  // of the matching limits; empty when no store was queried
};

// Without decisions, only deny and allow lists are considered.
[[nodiscard]] bool would_pass(const Explained& explained);

// The same as plain values, with what a daemon reports too.
struct ExplainReport {
  struct Rule {
    std::string name{};
    bool matched = false;
    std::string reason{};
    rules::Source source{};
  };
  struct Limit {
    std::string rule{};  // "api/search"; empty for a limit of the request itself
    Quota quota;
    std::string subject{};
    std::optional<Cost> cost{};  // of the request under this limit, if known
    bool shadow = false;
    std::string live_override{};  // "limit 500/m until ..."; empty without one
    std::string mode{};           // ", lease: ..."; empty for exact, or if unknown
    std::optional<Decision> now{};
    bool denies = false;
  };
  enum class Settled : std::uint8_t {
    ByLimits,
    UnknownDomain,
    DenyList,
    AllowList,
    MissingAttribute,
  };

  std::string domain{};
  std::vector<Rule> rules{};
  bool truncated = false;
  Settled settled = Settled::ByLimits;
  std::string settled_by{};  // the rule or list entry, unless by limits
  std::vector<Limit> limits{};
  std::optional<bool> allowed{};  // empty when usage is unknown
  std::string without_store{};    // the reason, when the store was unavailable: "failed_open"
};

[[nodiscard]] ExplainReport report_of(const Explained& explained);
// From the answer to POST /v1/explain: docs/reference/http-api.md.
[[nodiscard]] Result<ExplainReport> read_explained(const DaemonAnswer& answer);

// Several lines of text, without the last newline.
[[nodiscard]] std::string as_text(const ExplainReport& report, Colour colour);
[[nodiscard]] std::string as_json(const Explained& explained);

}  // namespace penstock::app
