#pragma once

#include "http_api/test_backend.hpp"
#include "wire/http/api/api.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {

// An Api on a TestBackend; one request at a time.
class ApiTest : public testing::Test {
 protected:
  TestBackend backend_{};
  ApiSettings settings_{
      .headers = {rules::HeaderDraft::XRateLimit},
      .trusted_proxies = TrustedProxies::parse(std::vector<std::string>{"127.0.0.1"}).value()};

  Response ask(std::string_view method, std::string_view target, std::string_view body = {},
               std::vector<Field> fields = {}) {
    Request request;
    const std::size_t question = std::min(target.find('?'), target.size());
    request.method = method;
    request.path = target.substr(0, question);
    request.query = question < target.size() ? target.substr(question + 1) : "";
    request.body = body;
    request.fields = std::move(fields);
    request.peer = "127.0.0.1";
    request.listens_on_loopback = on_loopback_;
    Api api(backend_, settings_);
    std::optional<Response> answered;
    api.handle(request, [&answered](Response response) {
      EXPECT_FALSE(answered.has_value()) << "answered twice";
      answered = std::move(response);
    });
    EXPECT_TRUE(answered.has_value()) << "not answered";
    return answered.value_or(Response{});
  }

  static std::string field(const Response& response, std::string_view name) {
    for (const auto& [given, value] : response.fields) {
      if (given == name) return value;
    }
    return "";
  }

  // The rule "search" of domain api, with this decision, for one subject.
  service::Answer answer_of(Decision decision) {
    service::Answer answer{
        .allowed = decision.allowed(),
        .reason = decision.allowed() ? service::Reason::WithinLimits : service::Reason::OverLimit,
        .strictest = 0};
    answer.match.domain_known = true;
    answer.match.descriptors = {rules::DescriptorOutcome::Limited};
    answer.limits.push_back(
        {.matched = {.rule = &rule_,
                     .check = {.name = {.subject = "api_key=abc", .limit = "api/search"},
                               .quota = rule_.limits[0].quota}},
         .decision = decision});
    return answer;
  }

  bool on_loopback_ = true;
  rules::Rule rule_{.domain = "api",
                    .name = "search",
                    .limits = {{.name = "", .quota = per_minute(600).burst(100)}},
                    .source = {.file = "rules.yaml", .line = 12}};
};

}  // namespace penstock::http
