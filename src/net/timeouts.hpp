#pragma once

#include "base/deadline.hpp"
#include "net/statistics.hpp"
#include "penstock/time.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <chrono>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace penstock::net {

// Something with a phase. Leaves its Timeouts when it is destroyed.
class TimeoutEntry : public boost::intrusive::list_base_hook<
                         boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  TimeoutEntry() = default;
  TimeoutEntry(const TimeoutEntry&) = delete;
  TimeoutEntry& operator=(const TimeoutEntry&) = delete;
  virtual ~TimeoutEntry() = default;

  [[nodiscard]] Phase phase() const noexcept { return phase_; }

  // The time limit of this phase has passed; it is in Phase::Closing now.
  virtual void expire(Phase phase) = 0;

 private:
  friend class Timeouts;
  Phase phase_ = Phase::Closing;
  base::Deadline since_{};
};

// The phase of each entry, and since when. All entries of a phase have the same time limit, so a
// list per phase is sorted by deadline: entering a phase sets a few pointers, and expire() looks
// only at the front of each list. A timer per connection would cost a heap operation per request.
class Timeouts {
 public:
  using Durations = std::array<std::chrono::steady_clock::duration, kPhaseCount>;

  // Phases without a time limit have Duration::max().
  explicit Timeouts(Durations limits) noexcept : limits_(limits) {}

  // Also for entries that are in a phase already.
  void set_limits(const Durations& limits) noexcept { limits_ = limits; }

  void enter(TimeoutEntry& entry, Phase phase, base::Deadline now);
  // Calls expire() of all entries that are due.
  void expire(base::Deadline now);
  // Calls `visit` for every entry. Entries may change their phase or be destroyed in it, and it may
  // call for_each() or expire(). An entry that changes to a later phase is visited again.
  template <class Visit>
  void for_each(const Visit& visit);

 private:
  using List = boost::intrusive::list<TimeoutEntry, boost::intrusive::constant_time_size<false>>;

  // A position in a list; never due.
  class Mark final : public TimeoutEntry {
   public:
    Mark() { since_ = base::Deadline::max(); }
    void expire(Phase /*phase*/) override {}
  };
  [[nodiscard]] static bool is_mark(const TimeoutEntry& entry) {
    return entry.since_ == base::Deadline::max();
  }

  [[nodiscard]] List& list(Phase phase) { return lists_.at(static_cast<std::size_t>(phase)); }

  Durations limits_;
  std::array<List, kPhaseCount> lists_;
};

// Limits of these phases, 24 hours at most. Other phases have none.
[[nodiscard]] Timeouts::Durations phase_limits(
    std::initializer_list<std::pair<Phase, Duration>> limits);

template <class Visit>
void Timeouts::for_each(const Visit& visit) {
  for (List& members : lists_) {
    Mark position;  // before the next entry to visit
    Mark end;       // before those that entered this phase meanwhile
    members.push_front(position);
    members.push_back(end);
    while (true) {
      TimeoutEntry& entry = *std::next(List::s_iterator_to(position));
      if (&entry == &end) break;
      position.unlink();
      members.insert(std::next(List::s_iterator_to(entry)), position);
      if (!is_mark(entry)) visit(entry);  // marks of a call of for_each() that made this one
    }
  }
}

}  // namespace penstock::net
