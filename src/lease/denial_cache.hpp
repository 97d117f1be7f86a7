#pragma once

#include "lease/cached_decision.hpp"
#include "store/hash128.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace penstock::lease {

// What the shared store said last to requests that were refused, so that whoever asks again costs
// no call. Of a request with several limits it also knows those that did not refuse, for the
// numbers that its answer shows. An entry holds as long as the version of its key stays the same.
//
// Bounded: `max_size` names; the oldest makes room. Thread-safety: none.
class DenialCache {
 public:
  static constexpr std::size_t kDefaultSize = 65'536;

  explicit DenialCache(std::size_t max_size = kDefaultSize) : max_size_(max_size) {}

  // Of a refused request: what this limit said.
  void note(const store::Hash128& name, const Quota& quota, Cost cost, const Decision& said,
            base::Deadline asked, base::Deadline heard, std::uint32_t version = 0);
  // Of an admission: the same, where the key is known already.
  void update(const store::Hash128& name, const CachedDecision& said, std::uint32_t version);

  // When the store would refuse for certain.
  [[nodiscard]] std::optional<Decision> certain_denial(const store::Hash128& name,
                                                       const Quota& quota, Cost cost,
                                                       base::Deadline now,
                                                       std::uint32_t version = 0) const;
  // What it has left, for a request that another limit refuses: only if it has room for the cost.
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
  std::deque<store::Hash128> order_;  // of all that are known, the oldest first
};

}  // namespace penstock::lease
