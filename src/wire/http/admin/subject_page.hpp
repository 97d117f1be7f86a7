#pragma once

#include "http/json.hpp"
#include "http/message.hpp"
#include "wire/http/admin/admin_data.hpp"

#include <string>
#include <vector>

namespace penstock::http {

// GET /subject?domain=api&subject=user%3D42: its limits under every rule with this key, as /v1/keys
// reports them, and its recent denials. `respond` may be called later.
void subject_page(AdminDataSource& source, const Request& request, Handler::Respond respond);

// "denied by api/search since 14:03:12, next request passes in 21 s". `limits` is that of the
// answer.
[[nodiscard]] std::string subject_sentence(const Json& limits,
                                           const std::vector<telemetry::DeniedSubject>& denials);

}  // namespace penstock::http
