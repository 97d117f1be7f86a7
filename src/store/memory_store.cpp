#include "store/memory_store.hpp"

namespace penstock::store {

void MemoryStore::check(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
                        Answered<Decisions> answered) {
  Decisions decisions(checks.size());
  if (checks.size() == 1) {
    decisions.front() = memory_.check(checks.front());
  } else {
    memory_.check_all(checks, decisions);
  }
  answered(std::move(decisions));
}

bool MemoryStore::try_check(std::span<const core::NamedCheck* const> checks,
                            std::span<Decision> decisions) {
  if (checks.size() == 1) {
    decisions.front() = memory_.check(*checks.front());
  } else {
    memory_.check_all(checks, decisions);
  }
  return true;
}

void MemoryStore::refund(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
                         Answered<Decisions> answered) {
  Decisions decisions(checks.size());
  memory_.refund(checks, decisions);
  answered(std::move(decisions));
}

void MemoryStore::reset(std::vector<core::LimitKey> names, base::Deadline /*deadline*/,
                        Answered<bool> answered) {
  bool any = false;
  for (const core::LimitKey& name : names) any = memory_.reset(name) || any;
  answered(any);
}

void MemoryStore::block(std::vector<core::LimitKey> names, Duration duration,
                        base::Deadline /*deadline*/, Answered<bool> answered) {
  bool any = false;
  for (const core::LimitKey& name : names) any = memory_.block(name, duration) || any;
  answered(any);
}

void MemoryStore::add(CounterKind kind, std::string name, std::int64_t delta,
                      std::optional<Duration> lifetime, base::Deadline /*deadline*/,
                      Answered<std::int64_t> answered) {
  if (kind == CounterKind::Integer) {
    answered(memory_.counters().add(name, delta, lifetime));
    return;
  }
  const Result<Decimal> sum = memory_.counters().add(name, Decimal::from_nanos(delta), lifetime);
  answered(sum ? Result<std::int64_t>(sum->nanos()) : sum.error());
}

void MemoryStore::get(CounterKind kind, std::string name, base::Deadline /*deadline*/,
                      Answered<std::int64_t> answered) {
  CounterTable& counters = memory_.counters();
  answered(kind == CounterKind::Integer ? counters.get(name) : counters.get_decimal(name).nanos());
}

void MemoryStore::remove(std::string name, base::Deadline /*deadline*/, Answered<bool> answered) {
  answered(memory_.counters().reset(name));
}

void MemoryStore::read_counter(std::string name, base::Deadline /*deadline*/,
                               Answered<CounterValues> answered) {
  answered(memory_.counters().read(name));
}

void MemoryStore::expire(std::string name, Duration lifetime, ExpireCondition condition,
                         base::Deadline /*deadline*/, Answered<bool> answered) {
  answered(memory_.counters().expire(name, lifetime, condition));
}

void MemoryStore::acquire(PermitName permit, std::uint32_t limit, Duration lasts,
                          base::Deadline /*deadline*/, Answered<core::PermitResult> answered) {
  answered(memory_.permits().acquire(permit, limit, lasts));
}

void MemoryStore::renew(PermitName permit, Duration lasts, base::Deadline /*deadline*/,
                        Answered<core::PermitResult> answered) {
  answered(memory_.permits().renew(permit, lasts));
}

void MemoryStore::release(PermitName permit, base::Deadline /*deadline*/, Answered<bool> answered) {
  answered(memory_.permits().release(permit));
}

void MemoryStore::ask(ReservationRequest ask, base::Deadline /*deadline*/,
                      Answered<ReservationAnswer> answered) {
  answered(memory_.reservations().ask(ask));
}

void MemoryStore::due(std::size_t most, base::Deadline /*deadline*/,
                      Answered<std::vector<std::string>> answered) {
  answered(memory_.reservations().due(most));
}

void MemoryStore::set_override(Override set, Duration lasts, base::Deadline /*deadline*/,
                               Answered<Override> answered) {
  answered(memory_.operators().set(std::move(set), lasts));
}

void MemoryStore::remove_override(Override removed, base::Deadline /*deadline*/,
                                  Answered<std::optional<Override>> answered) {
  answered(memory_.operators().remove(removed));
}

void MemoryStore::list_overrides(std::uint64_t known_version, base::Deadline /*deadline*/,
                                 Answered<OverrideList> answered) {
  answered(memory_.operators().list(known_version));
}

void MemoryStore::append_action(OperatorAction action, Duration lasts, base::Deadline /*deadline*/,
                                Answered<bool> answered) {
  memory_.operators().append(std::move(action), lasts);
  answered(true);
}

void MemoryStore::list_actions(std::size_t most, base::Deadline /*deadline*/,
                               Answered<std::vector<OperatorAction>> answered) {
  answered(memory_.operators().actions(most));
}

}  // namespace penstock::store
