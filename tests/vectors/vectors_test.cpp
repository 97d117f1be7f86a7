#include "core/any_state.hpp"
#include "oracle/model.hpp"
#include "vectors/compose.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace penstock::vectors {
namespace {

class Vectors : public ::testing::TestWithParam<Algorithm> {};

std::string content_of(Algorithm algorithm) {
  std::ifstream file(std::string(PENSTOCK_VECTORS_DIR) + "/" + file_name(algorithm),
                     std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// "quota gcra limit=10 period_us=1000000 burst=5" without its first word
std::optional<Quota> read_quota(std::istream& words) {
  std::string algorithm;
  words >> algorithm;
  std::map<std::string, std::int64_t> numbers;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    numbers[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  QuotaSpec spec = per(numbers["limit"], Duration{numbers["period_us"]});
  if (numbers.contains("burst")) spec.capacity = numbers["burst"];
  if (numbers.contains("parts")) spec.sub_window_count = numbers["parts"];
  const Result<Algorithm> known = parse_algorithm(algorithm);
  if (!known) return std::nullopt;
  const Result<Quota> quota = Quota::make(spec.with(*known));
  return quota ? std::optional(*quota) : std::nullopt;
}

// The key that the last quota line started.
struct Key {
  Quota quota;
  core::AnyState state;
};

// The line as the library would have written it.
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

TEST_P(Vectors, AreAnsweredAsWritten) {
  std::istringstream content(content_of(GetParam()));
  std::optional<Key> key;
  int checked = 0;
  for (std::string line; std::getline(content, line); ++checked) {
    ASSERT_EQ(replayed(line, key), line)
        << file_name(GetParam()) << ", line " << checked + 1
        << (key ? ", quota " + to_string(key->quota) : std::string());
  }
  EXPECT_GT(checked, 200);
}

TEST_P(Vectors, AreWhatTheOracleWouldWriteToday) {
  EXPECT_EQ(content_of(GetParam()), compose(GetParam()))
      << "run write_vectors and look at the diff";
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Vectors, ::testing::ValuesIn(kAlgorithms),
                         [](const auto& parameter) {
                           return std::string(to_string(parameter.param));
                         });

}  // namespace
}  // namespace penstock::vectors
