#pragma once

#include "penstock/result.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace penstock::redis {

// The error that a client with one server would fail every command with now. Other threads check it
// before they hand a command to the client's thread. The client sets it; while it is not set, a
// check costs one memory read.
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

  // The error to fail with instead of a call, if set. Counted.
  [[nodiscard]] std::optional<Error> fail_now() {
    // acquire: a thread that saw an answer of the recovered server does not see the older error
    if (!is_set_.load(std::memory_order_acquire)) return std::nullopt;
    const std::shared_ptr<const Error> shown = current_error();
    if (shown == nullptr) return std::nullopt;
    // relaxed: only the sum is used
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
