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

  explicit LeaseTable(std::size_t most = kUsualSize) : most_(most) {}

  [[nodiscard]] Holding* find(const store::Hash128& name);
  // Finds or begins one under the quota and terms of the check. Null when there are too many.
  [[nodiscard]] Holding* hold(const store::Hash128& name, const core::NamedCheck& check,
                              base::Deadline now);
  // After something happened to it: it may want to ask. Whether anybody does.
  bool review(const store::Hash128& name, base::Deadline now);
  // REQUIRES: nobody waits for it.
  void give_up(const store::Hash128& name);

  struct Asks {
    std::vector<store::Hash128> names{};
    std::vector<store::LeaseAsk> asks{};
  };
  // All that is to be asked for now.
  [[nodiscard]] Asks asks(std::uint32_t sharers, base::Deadline now);
  void on_grant(const store::Hash128& name, const Result<store::LeaseGrant>& grant,
                base::Deadline now, Answers& answers);

  // Somebody waits for it until then. Whether that is the first moment of this kind; whoever has
  // the table calls dismiss_late() then, and again when that says so: max() when it need not.
  bool watch(const store::Hash128& name, base::Deadline until);
  [[nodiscard]] base::Deadline dismiss_late(const store::Hash128& name, base::Deadline watched,
                                            base::Deadline now, Answers& answers);

  // What the store should hear before this holder ends: reports of strict leases, as questions for
  // nothing, and units of windows that it can have back.
  struct Leftovers {
    std::vector<store::LeaseAsk> reports{};
    std::vector<core::NamedCheck> refunds{};
  };
  [[nodiscard]] Leftovers leave(base::Deadline now);

  // Everybody who waits hears this error.
  void fail_all(const Error& error, Answers& answers);

  void drop(const store::Hash128& name, base::Deadline now);
  void doubt_all();

  [[nodiscard]] std::size_t size() const noexcept { return holdings_.size(); }

 private:
  struct Entry {
    std::unique_ptr<Holding> holding;
    bool is_ready = false;
    base::Deadline watched = base::Deadline::max();
  };

  void make_room(base::Deadline now);

  std::size_t most_;
  std::unordered_map<store::Hash128, Entry, store::Hash128Bucket> holdings_;
  std::vector<store::Hash128> ready_;  // may want to ask
  std::vector<store::Hash128> order_;  // of all, for make_room()
  std::size_t looked_at_ = 0;
};

}  // namespace penstock::lease
