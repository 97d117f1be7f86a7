#pragma once

#include "penstock/quota.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace penstock::store {

// The quotas that live slots were written under, each once, so that a slot needs only a number of
// 22 bits to name its own. A slot with a quota that was changed since can then be read exactly, and
// the sweep knows when any slot expires. A quota that no slot uses any more is dropped.
//
// Thread-safety: guarded by its owner's lock.
class QuotaTable {
 public:
  static constexpr unsigned kIdBits = 22;

  // Counts one more use.
  [[nodiscard]] std::uint32_t acquire(const Quota& quota);
  void release(std::uint32_t id) noexcept;

  [[nodiscard]] const Quota& operator[](std::uint32_t id) const noexcept {
    return entries_[id].quota;
  }
  [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Entry {
    Quota quota;
    std::uint32_t uses = 0;
  };
  struct IdentityBucket {
    std::size_t operator()(const QuotaIdentity& identity) const noexcept {
      return identity.amounts * 0x9e3779b97f4a7c15U ^ identity.shape;
    }
  };

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_ids_;
  std::unordered_map<QuotaIdentity, std::uint32_t, IdentityBucket> ids_;
  // Most new keys come under the quota that the last one came under.
  std::uint32_t last_id_ = 0;
};

}  // namespace penstock::store
