#pragma once

#include "answer/rate_headers.hpp"
#include "http/json_writer.hpp"
#include "http/message.hpp"
#include "rules/settings/settings.hpp"
#include "service/answer.hpp"

#include <span>
#include <string>

// A service::Answer as HTTP: status, header fields, JSON. Shared by every listener but RESP.
namespace penstock::answer {

// The member `override` of an overridden limit: its effect and expiry, and not who set it and why,
// which not every client may know.
void write_override(http::JsonWriter& writer, const store::Override& set);
// The members of a decision, into the object that is open.
void write_decision(http::JsonWriter& writer, const service::Answer& answer);
[[nodiscard]] std::string decision_text(const service::Answer& answer);  // an object of these
// The enforced limits, for header fields.
[[nodiscard]] RateLimitInfo rate_limit_info(const service::Answer& answer);
// The same with cached fields. `out` keeps its buffers, and points into `cache`.
void fill_rate_limit_info(const service::Answer& answer, PolicyHeaderCache& cache,
                          RateLimitInfo& out);

// 200; 429 for a denial; 403 for a deny list, where waiting does not help; 503 when the store is
// unavailable and the rule fails closed.
[[nodiscard]] unsigned status_of(const service::Answer& answer) noexcept;

// The whole response of a denial, with its header fields: a problem with this status.
[[nodiscard]] http::Response denial_response(const service::Answer& answer, unsigned status,
                                             std::span<const rules::HeaderDraft> drafts);
[[nodiscard]] http::Response response_of(const service::Answer& answer,
                                         std::span<const rules::HeaderDraft> drafts);

}  // namespace penstock::answer
