#pragma once

#include "core/named_check.hpp"
#include "lease/key_lease.hpp"
#include "store/hash128.hpp"
#include "store/key_hasher.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace penstock::lease {

// A version per key, which increases when this node charges or changes the key in the shared store.
// An entry that one worker caches about a key is valid only while the version is unchanged: another
// worker may have charged it. All workers of a node share one instance, and hash keys with its
// secret.
//
// Keys that share a slot share a version, which costs one of them an unnecessary store call. With
// 100 000 charges per second that happens to a key every three seconds.
//
// Thread-safety: all members, from any thread.
class KeyVersions {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 18U;

  KeyVersions() : slots_(kSlots) {}

  [[nodiscard]] const store::KeyHasher& hasher() const noexcept { return hasher_; }

  // acquire and release: a worker that serves a client's next request sees its previous answer
  [[nodiscard]] std::uint32_t of(const store::Hash128& key) const noexcept {
    return slots_[slot_of(key)].load(std::memory_order_acquire);
  }
  // Returns the previous version.
  std::uint32_t advance(const store::Hash128& key) noexcept {
    return slots_[slot_of(key)].fetch_add(1, std::memory_order_acq_rel);
  }

 private:
  [[nodiscard]] static std::size_t slot_of(const store::Hash128& key) noexcept {
    return key.low & (kSlots - 1);
  }

  store::KeyHasher hasher_{store::KeyHasher::random_secret()};
  std::vector<std::atomic<std::uint32_t>> slots_;
};

// All leases of one holder. It has no store and no clock: the owner sends the requests of asks()
// and passes on the answers.
//
// Bounded: `max_size` names; idle ones are evicted. Thread-safety: none.
class LeaseTable {
 public:
  static constexpr std::size_t kDefaultSize = 65'536;

  explicit LeaseTable(std::size_t max_size = kDefaultSize, const WasteLimit& waste = {})
      : max_size_(max_size), waste_(waste) {}

  // A name under a quota: leases of one name under several quotas do not share units.
  using Key = store::Hash128;
  [[nodiscard]] static Key key_of(const store::Hash128& name, const Quota& quota);

  [[nodiscard]] KeyLease* find(const Key& key);
  // Finds or creates the lease for the quota and terms of the check. Null when the table is full.
  [[nodiscard]] KeyLease* find_or_create(const store::Hash128& name, const core::NamedCheck& check,
                                         base::Deadline now);
  // Call after a change: the lease may need a request. Returns whether any lease does.
  bool update_ready(const Key& key, base::Deadline now);
  // REQUIRES: it has no waiters.
  void remove(const Key& key);

  struct Asks {
    std::vector<Key> keys{};
    std::vector<store::LeaseRequest> asks{};
  };
  // All lease requests to send now.
  [[nodiscard]] Asks asks(std::uint32_t sharers, base::Deadline now);
  void on_grant(const Key& key, const Result<store::LeaseGrant>& grant, base::Deadline now,
                WaiterAnswers& answers);

  // Whether the next wakeup is earlier than before: at watched(). The owner then calls on_timer(),
  // and again at the time that it returns; max() means no further call.
  [[nodiscard]] bool watch(const Key& key);
  [[nodiscard]] base::Deadline watched(const Key& key) const;
  [[nodiscard]] base::Deadline on_timer(const Key& key, base::Deadline watched, base::Deadline now,
                                        WaiterAnswers& answers);

  // Reports for the store at shutdown: strict leases as empty requests, and returnable units of
  // windows.
  struct UnspentUnits {
    std::vector<store::LeaseRequest> reports{};
    std::vector<core::NamedCheck> refunds{};
  };
  [[nodiscard]] UnspentUnits shutdown(base::Deadline now);

  // Fails all waiters with this error.
  void fail_all(const Error& error, WaiterAnswers& answers);

  // Drops all leases of this name, under any quota.
  void drop(const store::Hash128& name, base::Deadline now);
  void mark_stale(const store::Hash128& name);
  void mark_all_stale();
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }
  // The keys of this name.
  [[nodiscard]] std::vector<Key> keys_of(const store::Hash128& name) const;

  [[nodiscard]] std::size_t size() const noexcept { return key_leases_.size(); }

 private:
  struct Entry {
    std::unique_ptr<KeyLease> key_lease;
    store::Hash128 name{};
    std::size_t order_index = 0;  // in order_
    bool is_ready = false;
    base::Deadline watched = base::Deadline::max();
  };

  using KeyLeases = std::unordered_map<Key, Entry, store::Hash128Bucket>;

  void make_room(base::Deadline now);
  void erase(KeyLeases::iterator entry);

  std::size_t max_size_;
  WasteLimit waste_;
  KeyLeases key_leases_;
  std::unordered_multimap<store::Hash128, Key, store::Hash128Bucket> names_;  // of all
  std::vector<Key> ready_;                                                    // may want to ask
  std::vector<Key> order_;  // of all, for make_room()
  std::size_t next_checked_ = 0;
};

}  // namespace penstock::lease
