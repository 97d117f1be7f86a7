#pragma once

#include "store/memory_reservations.hpp"
#include "store/memory_seats.hpp"
#include "store/seat_book.hpp"

#include <string>
#include <vector>

// The books of the embedded store as the service asks for them: every answer comes before the call
// returns. REQUIRES: what is given outlives them.
namespace penstock::store {

class EmbeddedReservations final : public ReservationBook {
 public:
  explicit EmbeddedReservations(MemoryReservations& memory) noexcept : memory_(memory) {}

  void ask(ReservationAsk ask, base::Deadline /*deadline*/,
           Answered<ReservationAnswer> answered) override {
    answered(memory_.ask(ask));
  }
  void due(std::size_t most, base::Deadline /*deadline*/,
           Answered<std::vector<std::string>> answered) override {
    answered(memory_.due(most));
  }

 private:
  MemoryReservations& memory_;
};

class EmbeddedSeats final : public SeatBook {
 public:
  explicit EmbeddedSeats(MemorySeats& memory) noexcept : memory_(memory) {}

  void acquire(SeatName seat, std::uint32_t limit, Duration lasts, base::Deadline /*deadline*/,
               Answered<core::SeatAnswer> answered) override {
    answered(memory_.acquire(seat, limit, lasts));
  }
  void renew(SeatName seat, Duration lasts, base::Deadline /*deadline*/,
             Answered<core::SeatAnswer> answered) override {
    answered(memory_.renew(seat, lasts));
  }
  void release(SeatName seat, base::Deadline /*deadline*/, Answered<bool> answered) override {
    answered(memory_.release(seat));
  }

 private:
  MemorySeats& memory_;
};

}  // namespace penstock::store
