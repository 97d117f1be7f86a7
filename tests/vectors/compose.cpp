#include "vectors/compose.hpp"

#include "vectors/examples.hpp"
#include "vectors/section.hpp"

#include <algorithm>
#include <vector>

namespace penstock::vectors {
namespace {

constexpr Duration kMaxLength = Quota::kMaxPeriod;

bool is_bucket(Algorithm algorithm) {
  return algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra;
}

Quota made(Algorithm algorithm, std::int64_t limit, Duration period, std::int64_t burst,
           std::int64_t parts) {
  QuotaSpec spec = per(limit, period).with(algorithm);
  if (is_bucket(algorithm)) spec.capacity = burst;
  if (algorithm == Algorithm::SubWindows) spec.sub_window_count = parts;
  if (algorithm == Algorithm::SlidingLog) spec.limit = std::min(spec.limit, Quota::kMaxLogLimit);
  return Quota::make(spec).value();
}

std::vector<Quota> usual_quotas(Algorithm algorithm) {
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  return {
      made(algorithm, 3, milliseconds{2}, 4, 4),      made(algorithm, 7, milliseconds{10}, 3, 10),
      made(algorithm, 100, seconds{1}, 100, 20),      made(algorithm, 5'000, minutes{5}, 200, 60),
      made(algorithm, 1'000'000, Days{1}, 1'000, 96),
  };
}

// Extreme quotas. 999999937 is prime: its rates cannot be reduced, and a whole bucket counted in
// the smallest unit exceeds 2^53 and 2^63.
std::vector<Quota> extreme_quotas(Algorithm algorithm) {
  using std::chrono::milliseconds;
  return {
      made(algorithm, 1, milliseconds{1}, 1, 2),
      made(algorithm, 1'000'000'000, milliseconds{1}, 1'000'000'000, 100),
      made(algorithm, 999'999'937, kMaxLength, 1'000'000'000, 64),
      made(algorithm, 9'999'991, Days{1}, 999'999'937, 100),
      made(algorithm, 1, kMaxLength, 99, 2),
  };
}

std::string walk(const std::string& comment, const Quota& quota, SplitMix64& random, int lines,
                 std::uint8_t jumps) {
  Section section(comment, quota);
  section.walk(random, lines, jumps);
  return section.text();
}

}  // namespace

std::string file_name(Algorithm algorithm) { return std::string(to_string(algorithm)) + ".txt"; }

std::string compose(Algorithm algorithm) {
  SplitMix64 random(static_cast<std::uint64_t>(algorithm));
  std::string text =
      "# Written by write_vectors from the oracle, format in README.md. Do not edit.\n";
  text += worked_examples(algorithm);
  for (const Quota& quota : usual_quotas(algorithm)) {
    text += walk("time goes forward", quota, random, 18, oracle::kForwardJumps);
    text += walk("the clock steps back and forth", quota, random, 18, oracle::kJumps);
  }
  for (const Quota& quota : extreme_quotas(algorithm)) {
    text += walk("at the edge of what a quota can be", quota, random, 18, oracle::kJumps);
  }
  return text;
}

}  // namespace penstock::vectors
