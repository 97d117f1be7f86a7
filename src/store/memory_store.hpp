#pragma once

#include "store/memory_adapters.hpp"
#include "store/sharded_table.hpp"
#include "store/store.hpp"

namespace penstock::store {

// The embedded store as the service asks for it. Every answer comes before the call returns, so
// that deadlines never matter.
//
// Thread-safety: none; but the ShardedTable behind it may be shared by many of these.
class MemoryStore final : public Store {
 public:
  // REQUIRES: `memory` outlives the store.
  explicit MemoryStore(ShardedTable& memory) noexcept
      : memory_(memory), reservations_(memory.reservations()), permits_(memory.permits()) {}

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             Answered<Decisions> answered) override;
  [[nodiscard]] bool try_check(std::span<const core::NamedCheck* const> checks,
                               std::span<Decision> decisions) override;
  void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
              Answered<Decisions> answered) override;
  void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
             Answered<bool> answered) override;
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
             Answered<bool> answered) override;

  void add(CounterKind kind, std::string name, std::int64_t delta, std::optional<Duration> lifetime,
           base::Deadline deadline, Answered<std::int64_t> answered) override;
  void get(CounterKind kind, std::string name, base::Deadline deadline,
           Answered<std::int64_t> answered) override;
  void remove(std::string name, base::Deadline deadline, Answered<bool> answered) override;
  void read_counter(std::string name, base::Deadline deadline, Answered<Counter> answered) override;
  void expire(std::string name, Duration lifetime, ExpireCondition condition,
              base::Deadline deadline, Answered<bool> answered) override;
  [[nodiscard]] std::optional<Decision> try_check(std::string_view subject, const Quota& quota,
                                                  Cost cost) override {
    return memory_.check(subject, quota, cost);
  }

  [[nodiscard]] Health health() const override { return {}; }

  [[nodiscard]] ReservationStore& reservations() override { return reservations_; }
  [[nodiscard]] PermitStore& permits() override { return permits_; }

 private:
  ShardedTable& memory_;
  MemoryReservationStore reservations_;
  MemoryPermitStore permits_;
};

}  // namespace penstock::store
