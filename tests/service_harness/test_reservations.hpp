#pragma once

#include "service/reservations.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace penstock::service {

inline const rules::Rule kTokens{.domain = "api", .name = "tokens"};
inline const rules::Rule kBytes{.domain = "api", .name = "bytes"};

// A short text of the result.
[[nodiscard]] inline std::string text_of(const Result<ReserveResult>& said) {
  if (!said) return "error " + said.error().detail;
  switch (said->outcome) {
    case ReserveResult::Outcome::Busy: return "busy";
    case ReserveResult::Outcome::Settled:
      return "settled " + std::string(to_string(said->known.state));
    case ReserveResult::Outcome::Repeated: return "repeated " + said->id;
    case ReserveResult::Outcome::Decided: break;
  }
  return (said->answer.allowed ? "reserved " : "denied ") + said->id;
}

[[nodiscard]] inline std::string text_of(const Result<SettleResult>& said) {
  if (!said) return "error " + said.error().detail;
  switch (said->outcome) {
    case SettleResult::Outcome::Busy: return "busy";
    case SettleResult::Outcome::Unknown: return "unknown";
    case SettleResult::Outcome::Conflict: return "conflict " + std::string(to_string(said->state));
    case SettleResult::Outcome::Done: break;
  }
  std::string text(to_string(said->state));
  if (said->state == store::ReservationState::Committed) {
    text += " " + std::to_string(said->actual) + " of " + std::to_string(said->estimate);
    if (said->uncharged.value_or(0) > 0) text += ", not " + std::to_string(*said->uncharged);
  }
  return text;
}

struct ReservationsTest : ::testing::Test {
  TestService test;
  Reservations reservations{test.deps()};
  std::vector<rules::MatchedLimit> limits{matched_limit(kTokens, 100)};

  std::string reserve(std::string id, std::uint64_t estimate,
                      Duration lasts = std::chrono::minutes{1}) {
    std::string text;
    reservations.reserve(TestService::answer_with(limits), "api",
                         {.id = std::move(id), .estimate = estimate, .lasts = lasts},
                         base::Deadline{}, [&](const auto& said) { text = text_of(said); });
    return text;
  }
  std::string commit(std::string id, std::uint64_t actual) {
    std::string text;
    reservations.commit(std::move(id), actual, base::Deadline{},
                        [&](const auto& said) { text = text_of(said); });
    return text;
  }
  std::string cancel(std::string id) {
    std::string text;
    reservations.cancel(std::move(id), base::Deadline{},
                        [&](const auto& said) { text = text_of(said); });
    return text;
  }
  [[nodiscard]] std::uint32_t left(const rules::Rule& rule = kTokens, std::int64_t limit = 100) {
    return test.store.remaining({"s", rule.name}, long_window(limit));
  }
};

}  // namespace penstock::service
