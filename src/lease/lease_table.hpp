#pragma once

#include "core/named_check.hpp"
#include "lease/holding.hpp"
#include "store/hash128.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace penstock::lease {

// All that one holder has leased. Knows no store and no clock: whoever has it asks for what
// asks() says, and passes on the answers.
//
// Bounded: `most` names; those that nobody uses make room. Thread-safety: none.
class LeaseTable {
 public:
  static constexpr std::size_t kUsualSize = 65'536;

  explicit LeaseTable(std::size_t most = kUsualSize, const WasteLimit& waste = {})
      : most_(most), waste_(waste) {}

  // Of a name under a quota: leases of one name under several quotas do not share units.
  using Key = store::Hash128;
  [[nodiscard]] static Key key_of(const store::Hash128& name, const Quota& quota);

  [[nodiscard]] Holding* find(const Key& key);
  // Finds or begins one under the quota and terms of the check. Null when there are too many.
  [[nodiscard]] Holding* hold(const store::Hash128& name, const core::NamedCheck& check,
                              base::Deadline now);
  // After something happened to it: it may want to ask. Whether anybody does.
  bool review(const Key& key, base::Deadline now);
  // REQUIRES: nobody waits for it.
  void give_up(const Key& key);

  struct Asks {
    std::vector<Key> keys{};
    std::vector<store::LeaseAsk> asks{};
  };
  // All that is to be asked for now.
  [[nodiscard]] Asks asks(std::uint32_t sharers, base::Deadline now);
  void on_grant(const Key& key, const Result<store::LeaseGrant>& grant, base::Deadline now,
                Answers& answers);

  // Whether it has to be looked at earlier than was known: at watched(). Then the owner of the
  // table calls tend(), and again when that says so: max() when it need not.
  [[nodiscard]] bool watch(const Key& key);
  [[nodiscard]] base::Deadline watched(const Key& key) const;
  [[nodiscard]] base::Deadline tend(const Key& key, base::Deadline watched, base::Deadline now,
                                    Answers& answers);

  // What the store should hear before this holder ends: reports of strict leases, as questions for
  // nothing, and units of windows that it can have back.
  struct Leftovers {
    std::vector<store::LeaseAsk> reports{};
    std::vector<core::NamedCheck> refunds{};
  };
  [[nodiscard]] Leftovers leave(base::Deadline now);

  // Everybody who waits hears this error.
  void fail_all(const Error& error, Answers& answers);

  // Everything of this name, under whichever quota.
  void drop(const store::Hash128& name, base::Deadline now);
  void doubt(const store::Hash128& name);
  void doubt_all();
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }
  // Those of this name.
  [[nodiscard]] std::vector<Key> keys_of(const store::Hash128& name) const;

  [[nodiscard]] std::size_t size() const noexcept { return holdings_.size(); }

 private:
  struct Entry {
    std::unique_ptr<Holding> holding;
    store::Hash128 name{};
    std::size_t place = 0;  // in order_
    bool is_ready = false;
    base::Deadline watched = base::Deadline::max();
  };

  using Holdings = std::unordered_map<Key, Entry, store::Hash128Bucket>;

  void make_room(base::Deadline now);
  void erase(Holdings::iterator place);

  std::size_t most_;
  WasteLimit waste_;
  Holdings holdings_;
  std::unordered_multimap<store::Hash128, Key, store::Hash128Bucket> names_;  // of all
  std::vector<Key> ready_;                                                    // may want to ask
  std::vector<Key> order_;  // of all, for make_room()
  std::size_t looked_at_ = 0;
};

}  // namespace penstock::lease
