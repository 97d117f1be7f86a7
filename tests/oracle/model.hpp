#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

// The expected answers of every algorithm, derived from its definition: exact fractions, plain
// histories, and a search where the library has a formula. Slow, and shares no code with src/core.
namespace penstock::oracle {

struct Answer {
  bool allowed = false;
  bool never = false;
  std::uint32_t limit = 0;
  std::uint32_t remaining = 0;
  Duration reset_after{};
  std::optional<Duration> retry_after;  // zero when allowed, empty when never

  friend bool operator==(const Answer&, const Answer&) = default;
};

[[nodiscard]] Answer answer_of(const Decision& decision);

// "denied limit=20 remaining=0 reset_us=1200 retry_us=60": the notation of tests/vectors.
[[nodiscard]] std::string to_string(const Answer& answer);

// One key under one quota. REQUIRES: no time before 1970.
class Model {
 public:
  virtual ~Model() = default;

  Answer check(Cost cost, Instant now);
  [[nodiscard]] Answer peek(Cost cost, Instant now) const;
  void refund(Cost cost, Instant now);

  [[nodiscard]] virtual std::unique_ptr<Model> clone() const = 0;

 protected:
  explicit Model(std::uint32_t capacity) : capacity_(capacity) {}
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;

 private:
  // Corrects the state after a clock step back that is too large.
  virtual void repair(Instant now) = 0;
  // REQUIRES, for these two: without requests, both stay true once true.
  [[nodiscard]] virtual bool fits(std::uint64_t cost, Instant now) const = 0;
  [[nodiscard]] virtual bool unused(Instant now) const = 0;
  virtual void take(std::uint64_t cost, Instant now) = 0;
  // Does nothing when nothing was charged.
  virtual void refund_units(std::uint64_t cost, Instant now) = 0;

  [[nodiscard]] std::uint32_t remaining(Instant now) const;

  std::uint32_t capacity_;
};

[[nodiscard]] std::unique_ptr<Model> make_model(const Quota& quota);

}  // namespace penstock::oracle
