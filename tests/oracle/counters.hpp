#pragma once

#include "oracle/model.hpp"

#include <map>
#include <memory>
#include <optional>

namespace penstock::oracle {

// Units per time slot, numbered from the epoch, and the slot of the last change. A clock that is
// behind stays in that slot, unless it is `tolerance` slots behind or more: then the history is
// shifted to end at the present.
class SlotCounts {
 public:
  SlotCounts(Duration slot, std::int64_t kept, std::int64_t tolerance)
      : slot_(slot), kept_(kept), tolerance_(tolerance) {}

  [[nodiscard]] std::int64_t position(Instant now) const;
  [[nodiscard]] std::uint64_t in_slot(std::int64_t number) const;
  // Units in the slots that are kept: the current position and a number of slots before it.
  [[nodiscard]] std::uint64_t total(Instant now) const;
  [[nodiscard]] Duration since_start_of_slot(Instant now) const;

  void repair(Instant now);
  void add(std::uint64_t cost, Instant now);
  // Newest slots first.
  void subtract(std::uint64_t cost, Instant now);
  void clear();
  [[nodiscard]] bool ever_used() const { return reached_.has_value(); }

 private:
  void move_to(Instant now);

  Duration slot_;
  std::int64_t kept_;
  std::int64_t tolerance_;
  std::map<std::int64_t, std::uint64_t> counts_;
  std::optional<std::int64_t> reached_;
};

// The previous window is weighted by the share of it that a period ending now still covers.
class SlidingCounterModel final : public Model {
 public:
  explicit SlidingCounterModel(const Quota& quota)
      : Model(quota.capacity()),
        limit_(quota.limit()),
        period_(quota.period()),
        windows_(quota.period(), 1, 2) {}

  [[nodiscard]] std::unique_ptr<Model> clone() const override;

 private:
  void repair(Instant now) override { windows_.repair(now); }
  [[nodiscard]] bool fits(std::uint64_t cost, Instant now) const override;
  [[nodiscard]] bool unused(Instant now) const override { return windows_.total(now) == 0; }
  void take(std::uint64_t cost, Instant now) override { windows_.add(cost, now); }
  void refund_units(std::uint64_t cost, Instant now) override;

  std::uint64_t limit_;
  Duration period_;
  SlotCounts windows_;
};

// Every part that the period ending now touches counts in full: n + 1 parts.
class SubWindowsModel final : public Model {
 public:
  explicit SubWindowsModel(const Quota& quota)
      : Model(quota.capacity()),
        limit_(quota.limit()),
        parts_(quota.period() / quota.sub_window_count(), quota.sub_window_count(),
               std::int64_t{quota.sub_window_count()} + 1) {}

  [[nodiscard]] std::unique_ptr<Model> clone() const override;

 private:
  void repair(Instant now) override { parts_.repair(now); }
  [[nodiscard]] bool fits(std::uint64_t cost, Instant now) const override;
  [[nodiscard]] bool unused(Instant now) const override { return parts_.total(now) == 0; }
  void take(std::uint64_t cost, Instant now) override { parts_.add(cost, now); }
  void refund_units(std::uint64_t cost, Instant now) override;

  std::uint64_t limit_;
  SlotCounts parts_;
};

}  // namespace penstock::oracle
