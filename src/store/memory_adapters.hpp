#pragma once

#include "store/permit_store.hpp"
#include "store/permit_table.hpp"
#include "store/reservation_table.hpp"

#include <string>
#include <vector>

// The books of the embedded store as the service asks for them: every answer comes before the call
// returns. REQUIRES: what is given outlives them.
namespace penstock::store {

class MemoryReservationStore final : public ReservationStore {
 public:
  explicit MemoryReservationStore(ReservationTable& memory) noexcept : memory_(memory) {}

  void ask(ReservationRequest ask, base::Deadline /*deadline*/,
           Answered<ReservationAnswer> answered) override {
    answered(memory_.ask(ask));
  }
  void due(std::size_t most, base::Deadline /*deadline*/,
           Answered<std::vector<std::string>> answered) override {
    answered(memory_.due(most));
  }

 private:
  ReservationTable& memory_;
};

class MemoryPermitStore final : public PermitStore {
 public:
  explicit MemoryPermitStore(PermitTable& memory) noexcept : memory_(memory) {}

  void acquire(PermitName permit, std::uint32_t limit, Duration lasts, base::Deadline /*deadline*/,
               Answered<core::PermitResult> answered) override {
    answered(memory_.acquire(permit, limit, lasts));
  }
  void renew(PermitName permit, Duration lasts, base::Deadline /*deadline*/,
             Answered<core::PermitResult> answered) override {
    answered(memory_.renew(permit, lasts));
  }
  void release(PermitName permit, base::Deadline /*deadline*/, Answered<bool> answered) override {
    answered(memory_.release(permit));
  }

 private:
  PermitTable& memory_;
};

}  // namespace penstock::store
