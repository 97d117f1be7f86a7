#include "wire/http/refusal.hpp"

#include "wire/http/response_text.hpp"

#include <string>

namespace penstock::wire::http {

Response to_response(const Refusal& refusal) {
  std::string body = R"({"type":"about:blank","title":")";
  body += reason_of(refusal.status);
  body += R"(","status":)" + std::to_string(refusal.status);
  body += R"(,"detail":")";
  body += refusal.detail;
  body += "\"}\n";
  return {.status = refusal.status,
          .fields = {{"Content-Type", "application/problem+json"}},
          .body = std::move(body)};
}

}  // namespace penstock::wire::http
