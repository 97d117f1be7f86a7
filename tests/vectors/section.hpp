#pragma once

#include "oracle/model.hpp"
#include "oracle/walk.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::vectors {

// Public domain, by Sebastiano Vigna; reproducible everywhere, unlike std's distributions.
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

// The lines for one fresh key. A store may drop or keep a key once it no longer matters: lines with
// an answer that depends on this are left out.
class Section {
 public:
  Section(const std::string& comment, const Quota& quota);

  // Both return the answer of a check of one unit now.
  oracle::Answer check(Instant now, std::uint64_t cost);
  oracle::Answer refund(Instant now, std::uint64_t cost);

  // Adds this many random lines.
  void walk(SplitMix64& random, int lines, std::uint8_t jumps);

  [[nodiscard]] const Quota& quota() const { return quota_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void forget_if_unused(Instant now);
  oracle::Answer peek(Instant now);

  Quota quota_;
  std::unique_ptr<oracle::Model> keeping_;
  std::unique_ptr<oracle::Model> forgetting_;  // drops an expired key at the next request
  std::unique_ptr<oracle::Model> deleting_;    // drops an expired key at once
  Instant unused_at_;
  std::string text_;
};

}  // namespace penstock::vectors
