#pragma once

#include "oracle/model.hpp"
#include "oracle/walk.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::vectors {

// Public domain, by Sebastiano Vigna; the same numbers everywhere, unlike std's distributions.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31U);
  }
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

// The lines about one fresh key. A store may forget a key as soon as nothing of it counts, or keep
// it: lines whose answer would depend on that are left out.
class Section {
 public:
  Section(const std::string& comment, const Quota& quota);

  // Both return what a check of one would be told now.
  oracle::Answer check(Instant now, std::uint64_t cost);
  oracle::Answer refund(Instant now, std::uint64_t cost);

  // So many random lines.
  void walk(SplitMix64& random, int lines, std::uint8_t jumps);

  [[nodiscard]] const Quota& quota() const { return quota_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void forget_if_unused(Instant now);
  oracle::Answer peek(Instant now);

  Quota quota_;
  std::unique_ptr<oracle::Model> keeping_;
  std::unique_ptr<oracle::Model> forgetting_;  // when asked again
  std::unique_ptr<oracle::Model> deleting_;    // at once
  Instant unused_at_;
  std::string text_;
};

}  // namespace penstock::vectors
