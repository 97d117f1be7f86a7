#pragma once

#include "penstock/clock.hpp"
#include "penstock/result.hpp"
#include "store/operator_store.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace penstock::store {

// Overrides and the action log of the memory store; see OperatorStore.
//
// Bounded: kMaxOverrides and kMaxActions. Thread-safety: all members, from any thread.
class OperatorTable {
 public:
  explicit OperatorTable(const Clock& clock) noexcept : clock_(clock) {}

  [[nodiscard]] Result<Override> set(Override set, Duration lasts);
  [[nodiscard]] std::optional<Override> remove(const Override& removed);
  [[nodiscard]] OverrideList list(std::uint64_t known_version);
  void append(OperatorAction action, Duration lasts);
  [[nodiscard]] std::vector<OperatorAction> actions(std::size_t most);

 private:
  // REQUIRES, here and below: locked.
  void purge(Instant now);
  void log(OperatorAction action, Instant now, Duration lasts);

  const Clock& clock_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::map<std::pair<std::string, std::string>, Override> overrides_;  // by rule and subject
  std::uint64_t version_ = 0;
  std::deque<OperatorAction> actions_;  // the newest first
};

}  // namespace penstock::store
