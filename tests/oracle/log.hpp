#pragma once

#include "oracle/model.hpp"

#include <memory>
#include <vector>

namespace penstock::oracle {

// Every admission with its time x; it counts at `now` if x > now - period. Times in the log never
// decrease. If the newest is more than a period ahead, all future entries are moved to now.
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
