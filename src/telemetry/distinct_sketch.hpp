#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::telemetry {

// Estimates how many different texts were added, in 128 bytes (HyperLogLog: Flajolet, Fusy,
// Gandouet, Meunier). The standard error is 9 %; small numbers are almost exact. Sketches of
// several workers and nodes merge into the sketch of all their texts: they hash alike.
//
// Thread-safety: none.
class DistinctSketch {
 public:
  static constexpr std::size_t kRegisters = 128;

  void add(std::string_view text) noexcept {
    const std::uint64_t hash = spread(std::hash<std::string_view>{}(text));
    // the low 7 bits choose the register; leading zeros of the rest are the evidence
    const auto zeros = static_cast<std::uint8_t>(std::countl_zero(hash | kRegisters) + 1);
    std::uint8_t& highest = registers_[hash % kRegisters];
    highest = std::max(highest, zeros);
  }
  void merge(const DistinctSketch& other) noexcept {
    for (std::size_t i = 0; i < kRegisters; ++i) {
      registers_[i] = std::max(registers_[i], other.registers_[i]);
    }
  }
  void clear() noexcept { registers_ = {}; }

  [[nodiscard]] std::uint64_t estimate() const noexcept {
    constexpr double kCount = kRegisters;
    constexpr double kBias = 0.7213 / (1 + 1.079 / kCount);
    double sum = 0;
    std::size_t empty = 0;
    for (const std::uint8_t highest : registers_) {
      sum += std::ldexp(1.0, -int{highest});
      empty += highest == 0 ? 1U : 0U;
    }
    double estimate = kBias * kCount * kCount / sum;
    // linear counting is better for small numbers
    if (estimate <= 2.5 * kCount && empty > 0) {
      estimate = kCount * std::log(kCount / static_cast<double>(empty));
    }
    return static_cast<std::uint64_t>(std::llround(estimate));
  }

  // One letter per register.
  [[nodiscard]] std::string to_text() const {
    std::string text;
    for (const std::uint8_t highest : registers_) text += static_cast<char>('0' + highest);
    return text;
  }
  [[nodiscard]] static std::optional<DistinctSketch> parse(std::string_view text) {
    if (text.size() != kRegisters) return std::nullopt;
    DistinctSketch sketch;
    for (std::size_t i = 0; i < kRegisters; ++i) {
      if (text[i] < '0' || text[i] > '0' + kHighest) return std::nullopt;
      sketch.registers_[i] = static_cast<std::uint8_t>(text[i] - '0');
    }
    return sketch;
  }

 private:
  static constexpr int kHighest = 64 - 7 + 1;

  // The finalizer of MurmurHash3.
  static std::uint64_t spread(std::uint64_t hash) noexcept {
    hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
    hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
    return hash ^ (hash >> 33U);
  }

  std::array<std::uint8_t, kRegisters> registers_{};
};

}  // namespace penstock::telemetry
