#pragma once

#include "base/deadline.hpp"
#include "penstock/time.hpp"

#include <cstdint>

namespace penstock::lease {

// How much to lease, and when to ask for more: by how fast units were asked for lately, and by how
// long the store takes to answer. A lease should last for half of its lifetime, so that little of
// it is lost at the end; the next one should be there when it runs out.
//
// Thread-safety: none.
class LeaseSize {
 public:
  LeaseSize(Duration lifetime, base::Deadline now) noexcept : lifetime_(lifetime), since_(now) {}

  // Somebody asked for so many, whether they got them or not.
  void note_demand(std::uint64_t units) noexcept { demand_ += units; }
  void note_answer(base::Deadline::duration took) noexcept;

  // Looks at what was asked for since it was called last, and returns what would be wanted next,
  // if it counts for so long at the most.
  [[nodiscard]] std::uint64_t next(base::Deadline now,
                                   base::Deadline::duration counts_for) noexcept;
  // With fewer than this in hand it is time to ask.
  [[nodiscard]] std::uint64_t low_water() const noexcept { return low_water_; }
  // A lease that ends so soon is as good as over, when more is on its way.
  [[nodiscard]] base::Deadline::duration ahead() const noexcept { return 2 * answer_time_; }
  // After an answer that left nothing. A fraction of what a lease lasts: then so much has gathered
  // that asking is worth it.
  [[nodiscard]] base::Deadline::duration pause() const noexcept { return lifetime_ / 16; }

  [[nodiscard]] bool is_cold(base::Deadline now) const noexcept;
  void change_lifetime(Duration lifetime) noexcept { lifetime_ = lifetime; }

 private:
  // Fewer than so many in a lifetime are asked for one by one.
  static constexpr std::uint64_t kFewest = 4;

  [[nodiscard]] std::uint64_t rate_until(base::Deadline now) const noexcept;

  Duration lifetime_;
  base::Deadline since_;  // when demand_ was zero
  std::uint64_t demand_ = 0;
  std::uint64_t rate_ = 0;  // units per second, lately
  std::uint64_t low_water_ = 0;
  base::Deadline::duration answer_time_ = std::chrono::milliseconds{1};
};

}  // namespace penstock::lease
