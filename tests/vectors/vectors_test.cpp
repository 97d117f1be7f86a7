#include "core/any_state.hpp"
#include "oracle/model.hpp"
#include "vectors/compose.hpp"
#include "vectors/lines.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <sstream>

namespace penstock::vectors {
namespace {

class Vectors : public ::testing::TestWithParam<Algorithm> {};

// The key started by the last quota line.
struct Key {
  Quota quota;
  core::AnyState state;
};

// The line as the library would answer it.
std::string replayed(const std::string& line, std::optional<Key>& key) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  if (command.empty() || command.starts_with('#')) return line;
  if (command == "quota") {
    const std::optional<Quota> quota = read_quota(words);
    if (!quota) return "not a quota";
    key = Key{.quota = *quota, .state = {}};
    return line;
  }
  if (!key) return "no quota yet";
  std::int64_t now_us = 0;
  std::uint64_t cost = 0;
  words >> now_us >> cost;
  const Instant now{Duration{now_us}};
  const std::string start = command + " " + std::to_string(now_us) + " " + std::to_string(cost);
  if (command == "refund") {
    core::refund(key->state, key->quota, Cost{cost}, now);
    return start;
  }
  if (command != "check") return "unknown command";
  const Decision decision = core::decide(key->state, key->quota, Cost{cost}, now);
  return start + " -> " + to_string(oracle::answer_of(decision));
}

TEST_P(Vectors, MatchTheRecordedAnswers) {
  std::istringstream content(content_of(file_name(GetParam())));
  std::optional<Key> key;
  int checked = 0;
  for (std::string line; std::getline(content, line); ++checked) {
    ASSERT_EQ(replayed(line, key), line)
        << file_name(GetParam()) << ", line " << checked + 1
        << (key ? ", quota " + to_string(key->quota) : std::string());
  }
  EXPECT_GT(checked, 200);
}

TEST_P(Vectors, EqualTheOraclesOutput) {
  EXPECT_EQ(content_of(file_name(GetParam())), compose(GetParam()))
      << "run write_vectors and look at the diff";
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Vectors, ::testing::ValuesIn(kAlgorithms),
                         [](const auto& parameter) {
                           return std::string(to_string(parameter.param));
                         });

}  // namespace
}  // namespace penstock::vectors
