#include "differential/virtual_redis.hpp"
#include "oracle/model.hpp"
#include "reference/quotas.hpp"
#include "vectors/lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>
#include <tuple>

// The golden vectors, answered by the Redis scripts.
namespace penstock::differential {
namespace {

using redis_store::KeyCheck;

struct Line {
  std::string text{};
  std::string command{};
  std::int64_t now_us = 0;
  std::uint64_t cost = 0;
};

struct Section {
  Quota quota;
  std::vector<Line> lines{};
};

std::vector<Section> sections_of(Algorithm algorithm) {
  std::istringstream content(vectors::content_of(std::string(to_string(algorithm)) + ".txt"));
  std::vector<Section> sections;
  for (std::string text; std::getline(content, text);) {
    std::istringstream words(text);
    Line line{.text = text};
    words >> line.command;
    if (line.command.empty() || line.command.starts_with('#')) continue;
    if (line.command == "quota") {
      sections.push_back({.quota = vectors::read_quota(words).value()});
      continue;
    }
    words >> line.now_us >> line.cost;
    sections.back().lines.push_back(line);
  }
  return sections;
}

// Shifts all times of a section into a future in which no key expires. A whole number of periods,
// so that answers do not change. All times stay below 2^53.
Duration shift_of(const Section& section) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const Line& line : section.lines) {
    first = std::min(first, line.now_us);
    last = std::max(last, line.now_us);
  }
  const Duration lasting =
      std::max(2 * section.quota.period(), Duration{section.quota.fill_time().whole + 1});
  const Duration room = Duration{std::int64_t{1} << 53U} - Duration{last} - lasting;
  const Duration wanted = VirtualRedis::kDefaultNow.time_since_epoch() - Duration{first};
  const Duration shift = std::min(wanted, room);
  return shift - shift % section.quota.period();
}

// Which script answers.
enum class CheckPath : std::uint8_t { Queue, OneAlgorithm, AnyAlgorithm };

std::string name_of(CheckPath path) {
  switch (path) {
    case CheckPath::Queue: return "queue";
    case CheckPath::OneAlgorithm: return "one_algorithm";
    case CheckPath::AnyAlgorithm: break;
  }
  return "any_algorithm";
}

class VectorsReplay : public ::testing::TestWithParam<std::tuple<Algorithm, CheckPath>> {
 protected:
  static void SetUpTestSuite() { redis_ = std::make_unique<VirtualRedis>(); }
  static void TearDownTestSuite() { redis_.reset(); }

  static Result<Decision> ask(const KeyCheck& check, CheckPath path) {
    if (path == CheckPath::Queue) {
      std::optional<Result<Decision>> answer;
      redis_->check(check, answer);
      redis_->wait();
      return *answer;
    }
    redis_store::CheckRequest request{.checks = {check}};
    // An additional window in the request selects the general script.
    constexpr Quota kWindow = per_day(1).fixed_window();
    constexpr Quota kBucket = per_day(1);
    const bool is_window = check.quota.algorithm() == Algorithm::FixedWindow ||
                           check.quota.algorithm() == Algorithm::AnchoredWindow;
    // An additional bucket that never denies selects the script for several buckets.
    constexpr Quota kWideBucket = per_hour(1'000'000);
    if (path == CheckPath::OneAlgorithm && check.quota.is_bucket()) {
      request.checks.push_back({.key = "wide", .quota = kWideBucket, .cost = Cost{1}});
    }
    if (path == CheckPath::AnyAlgorithm) {
      request.checks.push_back(
          {.key = "other", .quota = is_window ? kBucket : kWindow, .cost = Cost{0}});
    }
    std::optional<Result<std::vector<Decision>>> answer;
    redis_->check_all(std::move(request), answer);
    redis_->wait();
    if (!*answer) return answer->error();
    return (*answer)->front();
  }

  static std::string answered(const Section& section, const Line& line, const std::string& key) {
    const auto path = std::get<CheckPath>(GetParam());
    const KeyCheck check{.key = key, .quota = section.quota, .cost = Cost{line.cost}};
    const std::string start =
        line.command + " " + std::to_string(line.now_us) + " " + std::to_string(line.cost);
    redis_->set_clock(Instant{Duration{line.now_us} + shift_of(section)});
    if (line.command == "refund") {
      std::optional<Result<std::vector<Decision>>> answer;
      redis_->refund({.checks = {check}}, answer);
      redis_->wait();
      return *answer ? start : answer->error().detail;
    }
    const Result<Decision> decision = ask(check, path);
    if (!decision) return decision.error().detail;
    return start + " -> " + to_string(oracle::answer_of(*decision));
  }

  static std::unique_ptr<VirtualRedis> redis_;
};

std::unique_ptr<VirtualRedis> VectorsReplay::redis_;

TEST_P(VectorsReplay, MatchTheRecordedAnswers) {
  redis_->start_over(VirtualRedis::kDefaultNow);
  const auto [algorithm, path] = GetParam();
  int number = 0;
  int lines = 0;
  for (const Section& section : sections_of(algorithm)) {
    const std::string key = name_of(path) + std::to_string(++number);
    for (const Line& line : section.lines) {
      ASSERT_EQ(answered(section, line, key), line.text) << "quota " << to_string(section.quota);
      ++lines;
    }
  }
  EXPECT_GT(lines, 200);
}

INSTANTIATE_TEST_SUITE_P(Ways, VectorsReplay,
                         ::testing::Combine(::testing::ValuesIn(reference::kAlgorithms),
                                            ::testing::Values(CheckPath::Queue,
                                                              CheckPath::OneAlgorithm,
                                                              CheckPath::AnyAlgorithm)),
                         [](const auto& parameter) {
                           return std::string(to_string(std::get<Algorithm>(parameter.param))) +
                                  "_" + name_of(std::get<CheckPath>(parameter.param));
                         });

}  // namespace
}  // namespace penstock::differential
