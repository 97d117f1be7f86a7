#pragma once

#include "store/operator_store.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace penstock::service {

// The overrides as last read from the store, shared by all event loops of a process. While the
// store is unavailable the last list stays; an override ends at its expiry in any case, which
// readers check.
//
// Thread-safety: all members, from any thread.
class LiveOverrides {
 public:
  using List = std::vector<std::shared_ptr<const store::Override>>;

  // Changes with every publish(), so that readers know without a lock that the list is new.
  [[nodiscard]] std::uint64_t generation() const noexcept {
    return generation_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::shared_ptr<const List> list() const;
  // Of the store, of this list.
  [[nodiscard]] std::uint64_t version() const;
  // Those that have not expired.
  [[nodiscard]] std::size_t count(Instant now) const;

  // Call before reading the store, and pass the ticket on with what was read: a list that was read
  // earlier than the present one is ignored.
  [[nodiscard]] std::uint64_t begin_read() noexcept { return ++last_ticket_; }
  void publish(std::uint64_t ticket, store::OverrideList read);

 private:
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::uint64_t> last_ticket_{0};
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::shared_ptr<const List> list_ = std::make_shared<const List>();
  std::uint64_t version_ = 0;
  std::uint64_t ticket_ = 0;  // of the list
};

}  // namespace penstock::service
