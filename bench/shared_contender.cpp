#include "bench/shared_contender.hpp"

#include <vector>

namespace penstock::bench {
namespace {

Answer answer_of(const Result<Decision>& decision) {
  if (!decision) return Answer::Failed;
  return decision->allowed() ? Answer::Admitted : Answer::Denied;
}

}  // namespace

std::optional<Error> SharedContender::check(std::span<const std::string_view> keys,
                                            std::span<Answer> answers) {
  if (keys.size() == 1) {
    const Result<Decision> decision = limiter_.check(keys.front(), quota_);
    answers.front() = answer_of(decision);
    return decision ? std::nullopt : std::optional(decision.error());
  }
  std::vector<Check> checks;
  checks.reserve(keys.size());
  for (const std::string_view key : keys) checks.push_back({.key = key, .quota = quota_});
  std::vector<Result<Decision>> decisions(keys.size(), Decision{});
  limiter_.check_each(checks, decisions);
  std::optional<Error> failure;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    answers[i] = answer_of(decisions[i]);
    if (!decisions[i] && !failure) failure = decisions[i].error();
  }
  return failure;
}

}  // namespace penstock::bench
