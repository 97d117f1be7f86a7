#pragma once

#include "penstock/result.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace penstock::redis {

// What a client that has one server would refuse every command with now, for threads that would
// have to hand theirs over to the client's own to hear it. The client decides and puts it up here;
// while nothing is refused, looking costs one read of memory.
//
// Thread-safety: all members, from any thread.
class FailFast {
 public:
  void set(Error why) {
    auto shown = std::make_shared<const Error>(std::move(why));
    const std::lock_guard lock(mutex_);
    why_ = std::move(shown);
    is_set_.store(true, std::memory_order_release);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    why_.reset();
    is_set_.store(false, std::memory_order_release);
  }

  // What to fail with in place of asking, if anything. Counted.
  [[nodiscard]] std::optional<Error> fail_now() {
    // acquire: whoever was told that the server answers again does not see the refusal before it
    if (!is_set_.load(std::memory_order_acquire)) return std::nullopt;
    const std::shared_ptr<const Error> shown = current_error();
    if (shown == nullptr) return std::nullopt;
    // relaxed: nothing is concluded from it but the sum
    fast_fails_.fetch_add(1, std::memory_order_relaxed);
    return *shown;
  }
  [[nodiscard]] std::uint64_t fast_fails() const noexcept {
    return fast_fails_.load(std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  [[nodiscard]] std::shared_ptr<const Error> current_error() {
    const std::lock_guard lock(mutex_);
    return why_;
  }

  std::atomic<bool> is_set_ = false;
  std::atomic<std::uint64_t> fast_fails_ = 0;
  std::mutex mutex_;
  std::shared_ptr<const Error> why_;  // guarded by mutex_
};

}  // namespace penstock::redis
