#pragma once

#include "core/any_state.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace penstock::reference {

// The expected answers of the memory store, without optimisation: a map of core states that
// expires nothing, one request at a time.
class ReferenceStore {
 public:
  Decision check(std::string_view key, const Quota& quota, Cost cost, Instant now);
  // Whether all pass in sequence; if not, nothing is charged.
  bool check_all(std::span<const Check> checks, Instant now);
  Decision refund(std::string_view key, const Quota& quota, Cost cost, Instant now);
  bool reset(std::string_view key, Instant now);
  // Time never runs backwards.
  void see(Instant now) { latest_ = std::max(latest_, now); }

 private:
  struct Entry {
    Quota quota;  // that usage drains under
    core::AnyState state;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Entries entries_;
  Instant latest_{};
};

}  // namespace penstock::reference
