#pragma once

#include "oracle/model.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <memory>
#include <optional>

namespace penstock::oracle {

using Rational = boost::multiprecision::cpp_rational;

// A possibly fractional number of tokens, and the time of the last update. An earlier clock neither
// adds nor removes tokens; if it is behind by more than a whole refill, that time becomes now.
class TokenBucketModel final : public Model {
 public:
  explicit TokenBucketModel(const Quota& quota);

  [[nodiscard]] std::unique_ptr<Model> clone() const override;

 private:
  struct Level {
    Rational tokens;
    Instant counted_at;
  };

  void repair(Instant now) override;
  [[nodiscard]] bool fits(std::uint64_t cost, Instant now) const override;
  [[nodiscard]] bool unused(Instant now) const override;
  void take(std::uint64_t cost, Instant now) override;
  void refund_units(std::uint64_t cost, Instant now) override;

  [[nodiscard]] Level level_at(Instant now) const;

  Rational capacity_;
  Rational tokens_per_micro_;
  std::optional<Level> level_;
};

// The theoretical arrival time, never further ahead than the duration of a whole burst.
class GcraModel final : public Model {
 public:
  explicit GcraModel(const Quota& quota);

  [[nodiscard]] std::unique_ptr<Model> clone() const override;

 private:
  void repair(Instant now) override;
  [[nodiscard]] bool fits(std::uint64_t cost, Instant now) const override;
  [[nodiscard]] bool unused(Instant now) const override;
  void take(std::uint64_t cost, Instant now) override;
  void refund_units(std::uint64_t cost, Instant now) override;

  Rational emission_interval_;
  Rational burst_time_;
  std::optional<Rational> arrival_;
};

}  // namespace penstock::oracle
