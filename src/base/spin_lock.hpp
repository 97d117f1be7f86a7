#pragma once

#include <atomic>
#include <thread>

// Names for clang's thread safety analysis (-Wthread-safety, the `tidy` preset); nothing elsewhere.
#if defined(__clang__)
#define PENSTOCK_ANNOTATE(attribute) __attribute__((attribute))
#else
#define PENSTOCK_ANNOTATE(attribute)
#endif

#define PENSTOCK_CAPABILITY(name) PENSTOCK_ANNOTATE(capability(name))
#define PENSTOCK_SCOPED_CAPABILITY PENSTOCK_ANNOTATE(scoped_lockable)
#define PENSTOCK_GUARDED_BY(lock) PENSTOCK_ANNOTATE(guarded_by(lock))
#define PENSTOCK_REQUIRES(...) PENSTOCK_ANNOTATE(requires_capability(__VA_ARGS__))
#define PENSTOCK_ACQUIRE(...) PENSTOCK_ANNOTATE(acquire_capability(__VA_ARGS__))
#define PENSTOCK_TRY_ACQUIRE(...) PENSTOCK_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define PENSTOCK_RELEASE(...) PENSTOCK_ANNOTATE(release_capability(__VA_ARGS__))
#define PENSTOCK_NO_THREAD_SAFETY_ANALYSIS PENSTOCK_ANNOTATE(no_thread_safety_analysis)

namespace penstock::base {

// A one-word lock for critical sections of tens of nanoseconds. Spins briefly, then yields the
// core, so that more threads than cores do not waste time slices.
class PENSTOCK_CAPABILITY("mutex") SpinLock {
 public:
  void lock() noexcept PENSTOCK_ACQUIRE() {
    // acquire: sees everything the previous holder wrote before its release in unlock()
    while (taken_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() noexcept PENSTOCK_RELEASE() { taken_.store(false, std::memory_order_release); }

 private:
  void wait() const noexcept {
    // About the length of a few critical sections on a current x86 core.
    constexpr int kSpins = 128;
    for (int spin = 0; spin < kSpins; ++spin) {
      // relaxed: only a hint that the next exchange may succeed
      if (!taken_.load(std::memory_order_relaxed)) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    std::this_thread::yield();
  }

  std::atomic<bool> taken_{false};
};

class PENSTOCK_SCOPED_CAPABILITY SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) noexcept PENSTOCK_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~SpinGuard() PENSTOCK_RELEASE() { lock_.unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace penstock::base
