#pragma once

#include "http/message.hpp"
#include "penstock/result.hpp"
#include "rules/settings/settings.hpp"
#include "wire/http/api/call.hpp"

#include <utility>

namespace penstock::http {

// The error names the setting.
[[nodiscard]] Result<ApiSettings> api_settings(const rules::Settings& settings);

// The calls of docs/reference/http-api.md. Every error is a problem (RFC 9457), except in /json.
//
// Thread-safety: none; each event loop has its own.
class Api final : public Handler {
 public:
  // REQUIRES: the backend outlives the Api, and the Api all answers.
  Api(service::Backend& backend, ApiSettings settings);

  // For all answers from now on, also to requests in flight.
  void use(ApiSettings settings) { settings_ = std::move(settings); }

  void handle(const Request& request, Respond respond) override;

 private:
  service::Backend& backend_;
  ApiSettings settings_;
};

}  // namespace penstock::http
