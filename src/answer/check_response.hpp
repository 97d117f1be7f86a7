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

class PolicyHeaderCache;

// One limit, as clients see it.
struct LimitResult {
  std::string rule{};     // "api/search"; empty for a limit that came with the request
  std::string name{};     // of the limit, where its rule has several
  std::string subject{};  // key of the usage
  Quota quota;
  std::optional<Decision> decision{};
  std::size_t descriptor = 0;
  bool shadow = false;
  bool local = false;
  bool is_refund = false;

  // How headers call it: without the domain, with the limit's name.
  [[nodiscard]] std::string policy() const;
};

// The response to a check, for every listener.
struct CheckResponse {
  bool allowed = true;
  service::Reason reason = service::Reason::NoRule;
  std::vector<LimitResult> limits{};
  std::optional<std::size_t> strictest{};
  std::string warning{};
};

[[nodiscard]] CheckResponse check_response_of(const service::Answer& answer,
                                              std::string_view domain);
// Of limits that were checked by key. REQUIRES: each has a decision.
[[nodiscard]] CheckResponse check_response_of(std::vector<LimitResult> limits);

// The members of a decision, into the object that is open.
void write_decision(http::JsonWriter& writer, const CheckResponse& check_response);
[[nodiscard]] std::string decision_text(const CheckResponse& check_response);  // an object of these
[[nodiscard]] RateLimitInfo rate_limit_info(const CheckResponse& check_response);
// The same without a CheckResponse. `out` keeps its buffers, and points into `cache`.
void fill_rate_limit_info(const service::Answer& answer, PolicyHeaderCache& cache,
                          RateLimitInfo& out);

// 200; 429 for a denial; 403 for a deny list, where waiting does not help; 503 when the store is
// unavailable and the rule fails closed.
[[nodiscard]] unsigned status_of(const CheckResponse& check_response) noexcept;
// The reason of a denial, for people.
[[nodiscard]] std::string detail_of(const CheckResponse& check_response);

// The whole response of a denial, with its header fields: a problem with this status.
[[nodiscard]] http::Response denial_response(const CheckResponse& check_response, unsigned status,
                                             std::span<const rules::HeaderDraft> drafts);
[[nodiscard]] http::Response response_of(const CheckResponse& check_response,
                                         std::span<const rules::HeaderDraft> drafts);

}  // namespace penstock::answer
