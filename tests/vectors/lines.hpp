#pragma once

#include "penstock/quota.hpp"

#include <fstream>
#include <istream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace penstock::vectors {

[[nodiscard]] inline std::string content_of(const std::string& file_name) {
  std::ifstream file(std::string(PENSTOCK_SOURCE_DIR) + "/tests/vectors/" + file_name,
                     std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// "quota gcra limit=10 period_us=1000000 burst=5" without its first word
[[nodiscard]] inline std::optional<Quota> read_quota(std::istream& words) {
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

}  // namespace penstock::vectors
