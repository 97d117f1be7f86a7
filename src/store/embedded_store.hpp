#pragma once

#include "store/embedded_books.hpp"
#include "store/memory_store.hpp"
#include "store/store.hpp"

namespace penstock::store {

// The embedded store as the service asks for it. Every answer comes before the call returns, so
// that deadlines never matter.
//
// Thread-safety: none; but the MemoryStore behind it may be shared by many of these.
class EmbeddedStore final : public Store {
 public:
  // REQUIRES: `memory` outlives the store.
  explicit EmbeddedStore(MemoryStore& memory) noexcept
      : memory_(memory), reservations_(memory.reservations()), seats_(memory.seats()) {}

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             Answered<Decisions> answered) override;
  [[nodiscard]] bool check_at_once(std::span<const core::NamedCheck* const> checks,
                                   std::span<Decision> decisions) override;
  void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
              Answered<Decisions> answered) override;
  void reset(std::vector<core::CountName> names, base::Deadline deadline,
             Answered<bool> answered) override;
  void block(std::vector<core::CountName> names, Duration duration, base::Deadline deadline,
             Answered<bool> answered) override;

  void add(CounterKind kind, std::string name, std::int64_t delta, std::optional<Duration> lifetime,
           base::Deadline deadline, Answered<std::int64_t> answered) override;
  void get(CounterKind kind, std::string name, base::Deadline deadline,
           Answered<std::int64_t> answered) override;
  void remove(std::string name, base::Deadline deadline, Answered<bool> answered) override;
  void look(std::string name, base::Deadline deadline, Answered<Counter> answered) override;
  void expire(std::string name, Duration lifetime, Renewal renewal, base::Deadline deadline,
              Answered<bool> answered) override;
  [[nodiscard]] std::optional<Decision> check_at_once(std::string_view subject, const Quota& quota,
                                                      Cost cost) override {
    return memory_.check(subject, quota, cost);
  }

  [[nodiscard]] Health health() const override { return {}; }

  [[nodiscard]] ReservationBook& reservations() override { return reservations_; }
  [[nodiscard]] SeatBook& seats() override { return seats_; }

 private:
  MemoryStore& memory_;
  EmbeddedReservations reservations_;
  EmbeddedSeats seats_;
};

}  // namespace penstock::store
