#pragma once

#include "oracle/model.hpp"

#include <memory>
#include <vector>

namespace penstock::oracle {

// Every admission with its instant x; it counts at `now` if x > now - period. The clock never runs
// backwards in the log: what is admitted is not older than what was admitted before. With the
// newest more than a period ahead, everything from the future happened now.
class SlidingLogModel final : public Model {
 public:
  explicit SlidingLogModel(const Quota& quota)
      : Model(quota.capacity()), limit_(quota.limit()), period_(quota.period()) {}

  [[nodiscard]] std::unique_ptr<Model> clone() const override;

 private:
  struct Admission {
    Instant at;
    std::uint64_t cost = 0;
  };

  void repair(Instant now) override;
  [[nodiscard]] bool fits(std::uint64_t cost, Instant now) const override;
  [[nodiscard]] bool unused(Instant now) const override;
  void take(std::uint64_t cost, Instant now) override;
  void refund_units(std::uint64_t cost, Instant now) override;

  [[nodiscard]] std::uint64_t counted(Instant now) const;
  void forget_old(Instant now);

  std::uint64_t limit_;
  Duration period_;
  std::vector<Admission> admissions_;
};

}  // namespace penstock::oracle
