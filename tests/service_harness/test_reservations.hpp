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

// What was said, in few words.
[[nodiscard]] inline std::string text_of(const Result<Reserved>& said) {
  if (!said) return "error " + said.error().detail;
  switch (said->outcome) {
    case Reserved::Outcome::Busy: return "busy";
    case Reserved::Outcome::Settled: return "settled " + std::string(to_string(said->known.state));
    case Reserved::Outcome::Repeated: return "repeated " + said->id;
    case Reserved::Outcome::Decided: break;
  }
  return (said->answer.allowed ? "reserved " : "refused ") + said->id;
}

[[nodiscard]] inline std::string text_of(const Result<Settled>& said) {
  if (!said) return "error " + said.error().detail;
  switch (said->outcome) {
    case Settled::Outcome::Busy: return "busy";
    case Settled::Outcome::Unknown: return "unknown";
    case Settled::Outcome::Conflict: return "conflict " + std::string(to_string(said->state));
    case Settled::Outcome::Done: break;
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
  Reservations reservations{test.colleagues()};
  std::vector<rules::Applied> limits{applied(kTokens, 100)};

  std::string reserve(std::string id, std::uint64_t estimate,
                      Duration lasts = std::chrono::minutes{1}) {
    std::string text;
    reservations.reserve(TestService::with(limits), "api",
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
    return test.store.remaining({"s", rule.name}, so_many(limit));
  }
};

}  // namespace penstock::service
