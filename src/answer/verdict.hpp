#pragma once

#include "answer/rate_headers.hpp"
#include "http/json_writer.hpp"
#include "http/message.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "rules/settings/settings.hpp"
#include "service/answer.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::answer {

class PolicyTexts;

// One limit as clients are told about it.
struct LimitVerdict {
  std::string rule{};     // "api/search"; empty for a limit that came with the request
  std::string name{};     // of the limit, where its rule has several
  std::string subject{};  // whose count it is
  Quota quota;
  std::optional<Decision> decision{};
  std::size_t descriptor = 0;
  bool shadow = false;
  bool local = false;
  bool gives_back = false;

  // How headers call it: without the domain, with the limit's name.
  [[nodiscard]] std::string policy() const;
};

// What a client is told, however it asked.
struct Verdict {
  bool allowed = true;
  service::Reason reason = service::Reason::NoRule;
  std::vector<LimitVerdict> limits{};
  std::optional<std::size_t> strictest{};
  std::string warning{};
};

[[nodiscard]] Verdict verdict_of(const service::Answer& answer, std::string_view domain);
// Limits that were asked for by their key. REQUIRES: each has a decision.
[[nodiscard]] Verdict verdict_of(std::vector<LimitVerdict> limits);

// The members of a decision, into the object that is open.
void write_decision(http::JsonWriter& writer, const Verdict& verdict);
[[nodiscard]] std::string decision_text(const Verdict& verdict);  // an object of these
[[nodiscard]] RateFacts rate_facts(const Verdict& verdict);
// The same without a Verdict, for whoever wants nothing else; `out` keeps its buffers, and points
// into `texts`.
void put_rate_facts(const service::Answer& answer, PolicyTexts& texts, RateFacts& out);

// 200, or what a refusal is answered with: 429; 403 for a deny list, where waiting does not help;
// 503 when the store could not be asked and the rule is closed then.
[[nodiscard]] unsigned status_of(const Verdict& verdict) noexcept;
// The same for people, of a refusal.
[[nodiscard]] std::string detail_of(const Verdict& verdict);

// The whole answer, with its header fields; a refusal is a problem with this status.
[[nodiscard]] http::Response refusal(const Verdict& verdict, unsigned status,
                                     std::span<const rules::HeaderDraft> drafts);
[[nodiscard]] http::Response response_of(const Verdict& verdict,
                                         std::span<const rules::HeaderDraft> drafts);

}  // namespace penstock::answer
