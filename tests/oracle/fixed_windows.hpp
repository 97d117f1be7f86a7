#pragma once

#include "oracle/model.hpp"

#include <memory>
#include <optional>

namespace penstock::oracle {

// One window and its usage. A window without usage does not exist. A window in the future is the
// current one, unless its end is more than two periods away.
class FixedWindowModel : public Model {
 protected:
  explicit FixedWindowModel(const Quota& quota)
      : Model(quota.capacity()), limit_(quota.limit()), period_(quota.period()) {}

  [[nodiscard]] Duration period() const { return period_; }

 private:
  struct Window {
    Instant end;
    std::uint64_t count = 0;
  };

  // End of a window that a first request at `now` opens.
  [[nodiscard]] virtual Instant end_of_window_at(Instant now) const = 0;

  void repair(Instant now) override;
  [[nodiscard]] bool fits(std::uint64_t cost, Instant now) const override;
  [[nodiscard]] bool unused(Instant now) const override;
  void take(std::uint64_t cost, Instant now) override;
  void refund_units(std::uint64_t cost, Instant now) override;

  std::uint64_t limit_;
  Duration period_;
  std::optional<Window> window_;
};

// Windows [k * period, (k + 1) * period).
class AlignedWindowModel final : public FixedWindowModel {
 public:
  explicit AlignedWindowModel(const Quota& quota) : FixedWindowModel(quota) {}

  [[nodiscard]] std::unique_ptr<Model> clone() const override;

 private:
  [[nodiscard]] Instant end_of_window_at(Instant now) const override;
};

// A window starts at the first admitted request outside of one.
class AnchoredWindowModel final : public FixedWindowModel {
 public:
  explicit AnchoredWindowModel(const Quota& quota) : FixedWindowModel(quota) {}

  [[nodiscard]] std::unique_ptr<Model> clone() const override;

 private:
  [[nodiscard]] Instant end_of_window_at(Instant now) const override { return now + period(); }
};

}  // namespace penstock::oracle
