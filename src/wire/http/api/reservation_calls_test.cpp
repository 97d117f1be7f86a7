#include "http_api/test_calls.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

using service::ReserveResult;
using service::SettleResult;
using store::ReservationState;
using namespace std::chrono_literals;

class ReservationCalls : public ApiTest {
 protected:
  // The last request to the backend.
  std::string asked() { return backend_.asked.empty() ? "" : backend_.asked.back(); }
};

TEST_F(ReservationCalls, ReserveWhatACheckAsksFor) {
  backend_.reserved = {.answer = answer_of(Decision::allow(100, 60, 1s)), .id = "r1", .left = 2min};
  const Response response =
      ask("POST", "/v1/reserve",
          R"({"domain":"api","attributes":{"path":"/x"},"cost":40,"ttl":"2m","id":"r1"})");
  EXPECT_EQ(asked(), "reserve api x40 [path=/x] id=r1 x40 for 120000 ms");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(field(response, "X-RateLimit-Remaining"), "60");
  EXPECT_TRUE(response.body.starts_with(
      R"({"id":"r1","state":"open","estimate":40,"expires_after_ms":120000,"allowed":true,)"))
      << response.body;
}

TEST_F(ReservationCalls, ReserveUnderALimitGivenInTheRequest) {
  ask("POST", "/v1/reserve", R"({"key":"k","limit":"100/m","cost":7,"on_failure":"open"})");
  EXPECT_EQ(asked(), "reserve k| 100/m id= x7 for 60000 ms");
  EXPECT_EQ(backend_.policies, std::vector{rules::OnFailure::Open});
}

TEST_F(ReservationCalls, ReportTheOutcomeOfAnEarlierCall) {
  const char* const body = R"({"key":"k","limit":"100/m","cost":7,"id":"r"})";
  backend_.reserved = {.outcome = ReserveResult::Outcome::Repeated, .id = "r", .left = 5s};
  EXPECT_EQ(ask("POST", "/v1/reserve", body).body,
            R"({"id":"r","state":"open","estimate":7,"expires_after_ms":5000,"allowed":true,)"
            R"("repeated":true})"
            "\n");
  backend_.reserved.outcome = ReserveResult::Outcome::Busy;
  const Response busy = ask("POST", "/v1/reserve", body);
  EXPECT_EQ(busy.status, 409U);
  EXPECT_EQ(field(busy, "Retry-After"), "1");
  backend_.reserved = {.outcome = ReserveResult::Outcome::Settled,
                       .id = "r",
                       .known = {.state = ReservationState::Committed, .estimate = 7, .actual = 3}};
  const Response settled = ask("POST", "/v1/reserve", body);
  EXPECT_EQ(settled.status, 409U);
  EXPECT_EQ(field(settled, "Retry-After"), "");
  EXPECT_NE(settled.body.find("an actual cost of 3"), std::string::npos) << settled.body;
}

TEST_F(ReservationCalls, DenyAsChecksDo) {
  backend_.reserved = {.answer = answer_of(Decision::deny(100, 0, 1s, 3s))};
  const Response response =
      ask("POST", "/v1/reserve", R"({"domain":"api","attributes":{},"cost":4})");
  EXPECT_EQ(response.status, 429U);
  EXPECT_EQ(field(response, "Retry-After"), "3");
}

TEST_F(ReservationCalls, SettleAndSayHow) {
  backend_.settled = {
      .state = ReservationState::Committed, .estimate = 40, .actual = 50, .uncharged = 4};
  EXPECT_EQ(ask("POST", "/v1/commit", R"({"id":"r","actual":50})").body,
            R"({"id":"r","state":"committed","estimate":40,"actual":50,"uncharged":4})"
            "\n");
  EXPECT_EQ(asked(), "commit r 50");
  backend_.settled.uncharged.reset();
  EXPECT_EQ(ask("POST", "/v1/commit", R"({"id":"r","actual":50})").body,
            R"({"id":"r","state":"committed","estimate":40,"actual":50})"
            "\n");
  backend_.settled = {.state = ReservationState::Cancelled, .estimate = 40};
  EXPECT_EQ(ask("POST", "/v1/cancel", R"({"id":"r"})").body,
            R"({"id":"r","state":"cancelled","estimate":40})"
            "\n");
  for (const auto& [outcome, status] : {std::pair{SettleResult::Outcome::Unknown, 404U},
                                        std::pair{SettleResult::Outcome::Conflict, 409U},
                                        std::pair{SettleResult::Outcome::Busy, 409U}}) {
    backend_.settled.outcome = outcome;
    EXPECT_EQ(ask("POST", "/v1/cancel", R"({"id":"r"})").status, status);
    EXPECT_EQ(ask("POST", "/v1/commit", R"({"id":"r","actual":1})").status, status);
  }
}

TEST_F(ReservationCalls, SayWhatIsWrongWithTheirInput) {
  const std::string long_id(201, 'x');
  for (const auto& [call, body] : std::vector<std::pair<std::string, std::string>>{
           {"reserve", R"({"key":"k","limit":"1/s","ttl":"2d"})"},
           {"reserve", R"({"key":"k","limit":"1/s","id":""})"},
           {"reserve", R"({"key":"k","limit":"1/s","id":")" + long_id + R"("})"},
           {"reserve", R"({"key":"k"})"},
           {"reserve", R"({"domain":"api","attributes":{},"color":1})"},
           {"reserve", R"({"domain":"a","descriptors":[{"entries":[{"key":"k"}],"cost":2}]})"},
           {"reserve", "[]"},
           {"commit", R"({"id":"r"})"},
           {"commit", R"({"id":"r","actual":-1})"},
           {"commit", R"({"actual":1})"},
           {"cancel", R"({"id":"r","actual":1})"}}) {
    EXPECT_EQ(ask("POST", "/v1/" + call, body).status, 400U) << call << body;
  }
  EXPECT_EQ(asked(), "");
}

TEST_F(ReservationCalls, NeedWriteAccess) {
  on_loopback_ = false;
  for (const char* const call : {"reserve", "commit", "cancel", "acquire", "renew", "release"}) {
    EXPECT_EQ(ask("POST", std::string("/v1/") + call, "{}").status, 403U);
  }
}

class PermitCalls : public ApiTest {};

TEST_F(PermitCalls, AcquireRenewAndRelease) {
  const char* const first = R"({"key":"k","limit":1,"id":"a","ttl":"1m"})";
  EXPECT_EQ(ask("POST", "/v1/acquire", first).body,
            R"({"key":"k","id":"a","in_use":1,"limit":1,"expires_after_ms":60000})"
            "\n");
  const Response refused = ask("POST", "/v1/acquire", R"({"key":"k","limit":1})");
  EXPECT_EQ(refused.status, 429U);
  EXPECT_EQ(field(refused, "Retry-After"), "60");
  EXPECT_NE(refused.body.find(R"("in_use":1,"limit":1,"retry_after_ms":60000)"), std::string::npos);
  EXPECT_EQ(ask("POST", "/v1/renew", R"({"key":"k","id":"a","ttl":"2m"})").body,
            R"({"key":"k","id":"a","in_use":1,"expires_after_ms":120000})"
            "\n");
  EXPECT_EQ(ask("POST", "/v1/release", R"({"key":"k","id":"a"})").body,
            R"({"key":"k","id":"a","was_held":true})"
            "\n");
  EXPECT_EQ(ask("POST", "/v1/renew", R"({"key":"k","id":"a"})").status, 404U);
  EXPECT_EQ(ask("POST", "/v1/acquire", R"({"key":"k","limit":1})").status, 200U);
}

TEST_F(PermitCalls, SayWhatIsWrongWithTheirInput) {
  for (const auto& [call, body] : std::vector<std::pair<std::string, std::string>>{
           {"acquire", R"({"key":"k"})"},
           {"acquire", R"({"key":"k","limit":0})"},
           {"acquire", R"({"key":"k","limit":1000001})"},
           {"acquire", R"({"limit":1})"},
           {"acquire", R"({"key":"k","limit":1,"ttl":"25h"})"},
           {"renew", R"({"key":"k"})"},
           {"release", R"({"key":"k","id":"a","ttl":"1s"})"}}) {
    EXPECT_EQ(ask("POST", "/v1/" + call, body).status, 400U) << call << body;
  }
}

}  // namespace
}  // namespace penstock::http
