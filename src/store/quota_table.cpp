#include "store/quota_table.hpp"

#include "base/check.hpp"

namespace penstock::store {

std::uint32_t QuotaTable::acquire(const Quota& quota) {
  if (last_id_ < entries_.size() && entries_[last_id_].uses > 0 &&
      entries_[last_id_].quota == quota) {
    ++entries_[last_id_].uses;
    return last_id_;
  }
  const auto [known, is_new] = ids_.try_emplace(quota.identity(), 0);
  if (is_new) {
    if (free_ids_.empty()) {
      known->second = static_cast<std::uint32_t>(entries_.size());
      // a shard holds fewer slots than there are numbers (ShardedTable::shard_count)
      PENSTOCK_CHECK(known->second < (1U << kIdBits));
      entries_.push_back({.quota = quota, .uses = 0});
    } else {
      known->second = free_ids_.back();
      free_ids_.pop_back();
      entries_[known->second].quota = quota;
    }
  }
  last_id_ = known->second;
  ++entries_[last_id_].uses;
  return last_id_;
}

void QuotaTable::release(std::uint32_t id) noexcept {
  Entry& entry = entries_[id];
  PENSTOCK_DCHECK(entry.uses > 0);
  if (--entry.uses > 0) return;
  ids_.erase(entry.quota.identity());
  free_ids_.push_back(id);
}

std::size_t QuotaTable::bytes() const noexcept {
  // a node of the map: the pair, the hash and the link, in the heap's granularity
  constexpr std::size_t kNode =
      sizeof(QuotaIdentity) + sizeof(std::uint32_t) + 2 * sizeof(void*) + 12;
  return entries_.capacity() * sizeof(Entry) + free_ids_.capacity() * sizeof(std::uint32_t) +
         ids_.size() * kNode + ids_.bucket_count() * sizeof(void*);
}

}  // namespace penstock::store
