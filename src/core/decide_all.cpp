#include "core/decide_all.hpp"

namespace penstock::core {
namespace {

// Whether `a` denies for longer than `b`; NeverFits is longest.
bool is_stricter_denial(const Decision& a, const Decision& b) {
  if (a.outcome() == Outcome::NeverFits || b.outcome() == Outcome::NeverFits) {
    return a.outcome() == Outcome::NeverFits && b.outcome() != Outcome::NeverFits;
  }
  return *a.retry_after() > *b.retry_after();
}

}  // namespace

bool is_stricter(const Decision& a, const Decision& b) noexcept {
  if (a.allowed() != b.allowed()) return b.allowed();
  return a.allowed() ? a.remaining() < b.remaining() : is_stricter_denial(a, b);
}

Decision strictest(std::span<const Decision> decisions) {
  std::size_t index = 0;
  for (std::size_t i = 1; i < decisions.size(); ++i) {
    if (is_stricter(decisions[i], decisions[index])) index = i;
  }
  Decision decision = decisions[index];
  decision.set_decided_by(index);
  return decision;
}

}  // namespace penstock::core
