#pragma once

#include "lease/cached_decision.hpp"
#include "store/hash128.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace penstock::lease {

// The last answers of the shared store to denied requests, so that repeated denials need no store
// call. For a request with several limits it also keeps the limits that did not deny, for the
// numbers of the answer. An entry is valid while the version of its key is unchanged.
//
// Bounded: `max_size` names; the oldest is evicted. Thread-safety: none.
class DenialCache {
 public:
  static constexpr std::size_t kDefaultSize = 65'536;

  explicit DenialCache(std::size_t max_size = kDefaultSize) : max_size_(max_size) {}

  // The answer of one limit of a denied request.
  void note(const store::Hash128& name, const Quota& quota, Cost cost, const Decision& said,
            base::Deadline asked, base::Deadline heard, std::uint32_t version = 0);
  // The answer of an admission; kept only for a known key.
  void update(const store::Hash128& name, const CachedDecision& said, std::uint32_t version);

  // The denial, when the store would certainly deny.
  [[nodiscard]] std::optional<Decision> certain_denial(const store::Hash128& name,
                                                       const Quota& quota, Cost cost,
                                                       base::Deadline now,
                                                       std::uint32_t version = 0) const;
  // The remaining units, for a request that another limit denies: only if there is room for the
  // cost.
  [[nodiscard]] std::optional<Decision> snapshot(const store::Hash128& name, const Quota& quota,
                                                 Cost cost, base::Deadline now,
                                                 std::uint32_t version = 0) const;

  void forget(const store::Hash128& name);
  void forget_all();

  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }
  [[nodiscard]] std::size_t queue_size() const noexcept { return order_.size(); }

 private:
  struct Known {
    CachedDecision denial;
    std::uint32_t version = 0;
    bool is_forgotten = false;
  };

  [[nodiscard]] const CachedDecision* find(const store::Hash128& name, std::uint32_t version) const;
  void make_room(base::Deadline now);

  std::size_t max_size_;
  std::unordered_map<store::Hash128, Known, store::Hash128Bucket> known_;
  std::deque<store::Hash128> order_;  // of all entries, the oldest first
};

}  // namespace penstock::lease
