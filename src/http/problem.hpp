#pragma once

#include "http/json.hpp"
#include "http/message.hpp"
#include "penstock/result.hpp"

#include <string_view>

namespace penstock::http {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kProblemType = "application/problem+json";

[[nodiscard]] Response json_response(unsigned status, std::string json);
[[nodiscard]] Response json_response(unsigned status, const Json& json);

// An error response (RFC 9457), not cacheable. `more` has additional members, as text without
// braces.
struct Problem {
  unsigned status = 400;
  std::string_view type = "about:blank";
  std::string_view title{};  // the status' unless given
  std::string_view detail;
};
[[nodiscard]] Response problem_response(const Problem& problem, std::string_view more = {});

// 400 for bad input, 409 for a sum that does not fit, 503 when the store could not do it.
[[nodiscard]] Response problem_of(const Error& error);

}  // namespace penstock::http
