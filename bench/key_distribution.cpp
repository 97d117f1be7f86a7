#include "bench/key_distribution.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace penstock::bench {
namespace {

// splitmix64 (Steele, Lea, Flood): the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32U) * bound) >> 32U);
  }
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// The frequency of the k-th most popular key is proportional to k^-exponent. A fixed permutation
// spreads popular keys.
std::vector<std::uint32_t> draw_zipf(double exponent, std::uint32_t keys, std::size_t count,
                                     Random& random) {
  std::vector<double> cumulative(keys);
  double sum = 0;
  for (std::uint32_t rank = 0; rank < keys; ++rank) {
    sum += std::pow(static_cast<double>(rank) + 1, -exponent);
    cumulative[rank] = sum;
  }
  std::vector<std::uint32_t> drawn(count);
  for (std::uint32_t& key : drawn) {
    const auto at = std::lower_bound(cumulative.begin(), cumulative.end(), random.unit() * sum);
    const auto rank =
        static_cast<std::uint64_t>(std::min(at, cumulative.end() - 1) - cumulative.begin());
    key = static_cast<std::uint32_t>(rank * 0x9e3779b1U % keys);
  }
  return drawn;
}

}  // namespace

Result<KeyDistribution> KeyDistribution::parse(std::string_view text) {
  if (text == "uniform") return KeyDistribution{};
  if (text == "one") return KeyDistribution{.kind = Kind::One};
  constexpr std::string_view kZipf = "zipf:";
  if (text.starts_with(kZipf)) {
    const std::string_view number = text.substr(kZipf.size());
    double exponent = 0;
    const auto [end, failure] =
        std::from_chars(number.data(), number.data() + number.size(), exponent);
    if (failure == std::errc{} && end == number.data() + number.size() && exponent > 0 &&
        exponent <= 10) {
      return KeyDistribution{.kind = Kind::Zipf, .exponent = exponent};
    }
  }
  return Error{ErrorCode::InvalidInput,
               "unknown distribution \"" + std::string(text) +
                   "\"; use uniform, one, or zipf:S with S above 0 and at most 10"};
}

std::string to_string(const KeyDistribution& distribution) {
  switch (distribution.kind) {
    case KeyDistribution::Kind::Uniform: return "uniform";
    case KeyDistribution::Kind::One: return "one";
    case KeyDistribution::Kind::Zipf: break;
  }
  std::array<char, 32> text{};
  const auto [end, failure] =
      std::to_chars(text.data(), text.data() + text.size(), distribution.exponent);
  return "zipf:" + std::string(text.data(), failure == std::errc{} ? end : text.data());
}

std::vector<std::uint32_t> draw_keys(const KeyDistribution& distribution, std::uint32_t keys,
                                     std::size_t count, std::uint64_t seed) {
  Random random(seed);
  if (distribution.kind == KeyDistribution::Kind::Zipf) {
    return draw_zipf(distribution.exponent, keys, count, random);
  }
  std::vector<std::uint32_t> drawn(count);
  if (distribution.kind == KeyDistribution::Kind::Uniform) {
    for (std::uint32_t& key : drawn) key = random.below(keys);
  }
  return drawn;
}

}  // namespace penstock::bench
