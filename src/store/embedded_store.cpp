#include "store/embedded_store.hpp"

namespace penstock::store {

void EmbeddedStore::check(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
                          Answered<Decisions> answered) {
  Decisions decisions(checks.size());
  if (checks.size() == 1) {
    decisions.front() = memory_.check(checks.front());
  } else {
    memory_.check_all(checks, decisions);
  }
  answered(std::move(decisions));
}

bool EmbeddedStore::check_at_once(std::span<const core::NamedCheck* const> checks,
                                  std::span<Decision> decisions) {
  if (checks.size() == 1) {
    decisions.front() = memory_.check(*checks.front());
  } else {
    memory_.check_all(checks, decisions);
  }
  return true;
}

void EmbeddedStore::refund(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
                           Answered<Decisions> answered) {
  Decisions decisions(checks.size());
  memory_.refund(checks, decisions);
  answered(std::move(decisions));
}

void EmbeddedStore::reset(std::vector<core::CountName> names, base::Deadline /*deadline*/,
                          Answered<bool> answered) {
  bool any = false;
  for (const core::CountName& name : names) any = memory_.reset(name) || any;
  answered(any);
}

void EmbeddedStore::block(std::vector<core::CountName> names, Duration duration,
                          base::Deadline /*deadline*/, Answered<bool> answered) {
  bool any = false;
  for (const core::CountName& name : names) any = memory_.block(name, duration) || any;
  answered(any);
}

void EmbeddedStore::add(CounterKind kind, std::string name, std::int64_t delta,
                        std::optional<Duration> lifetime, base::Deadline /*deadline*/,
                        Answered<std::int64_t> answered) {
  if (kind == CounterKind::Integer) {
    answered(memory_.counters().add(name, delta, lifetime));
    return;
  }
  const Result<Decimal> sum = memory_.counters().add(name, Decimal::from_nanos(delta), lifetime);
  answered(sum ? Result<std::int64_t>(sum->nanos()) : sum.error());
}

void EmbeddedStore::get(CounterKind kind, std::string name, base::Deadline /*deadline*/,
                        Answered<std::int64_t> answered) {
  CounterStore& counters = memory_.counters();
  answered(kind == CounterKind::Integer ? counters.get(name) : counters.get_decimal(name).nanos());
}

void EmbeddedStore::remove(std::string name, base::Deadline /*deadline*/, Answered<bool> answered) {
  answered(memory_.counters().reset(name));
}

void EmbeddedStore::look(std::string name, base::Deadline /*deadline*/,
                         Answered<Counter> answered) {
  const CounterStore::Content content = memory_.counters().look(name);
  answered(Counter{
      .integer = content.integer, .decimal = content.decimal, .lifetime = content.lifetime});
}

void EmbeddedStore::expire(std::string name, Duration lifetime, Renewal renewal,
                           base::Deadline /*deadline*/, Answered<bool> answered) {
  const auto whom =
      renewal == Renewal::Always ? CounterStore::Whom::All : CounterStore::Whom::Endless;
  answered(memory_.counters().expire(name, lifetime, whom));
}

}  // namespace penstock::store
