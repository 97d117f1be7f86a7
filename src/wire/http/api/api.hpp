#pragma once

#include "http/message.hpp"
#include "penstock/result.hpp"
#include "rules/settings/settings.hpp"
#include "wire/http/api/call.hpp"

#include <string>
#include <utility>
#include <vector>

namespace penstock::http {

// The error names the setting.
[[nodiscard]] Result<ApiSettings> api_settings(const rules::Settings& settings);

// The calls of docs/http-api.md. Every error is a problem (RFC 9457), except in /json.
//
// Thread-safety: none; each event loop has its own.
class Api final : public Handler {
 public:
  // REQUIRES: the backend outlives the Api, and the Api all answers.
  Api(service::Backend& backend, ApiSettings settings);

  // For a reload.
  void set_tokens(std::vector<std::string> tokens) { settings_.tokens = std::move(tokens); }

  void handle(const Request& request, Respond respond) override;

 private:
  service::Backend& backend_;
  ApiSettings settings_;
};

}  // namespace penstock::http
