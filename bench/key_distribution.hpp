#pragma once

#include "penstock/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::bench {

// The distribution of keys in a load.
struct KeyDistribution {
  enum class Kind : std::uint8_t { Uniform, Zipf, One };

  Kind kind = Kind::Uniform;
  double exponent = 0;  // of Zipf's law

  // "uniform", "zipf:0.99", "one".
  [[nodiscard]] static Result<KeyDistribution> parse(std::string_view text);
};

[[nodiscard]] std::string to_string(const KeyDistribution& distribution);

// `count` key numbers below `keys`. Deterministic for a seed.
[[nodiscard]] std::vector<std::uint32_t> draw_keys(const KeyDistribution& distribution,
                                                   std::uint32_t keys, std::size_t count,
                                                   std::uint64_t seed);

}  // namespace penstock::bench
