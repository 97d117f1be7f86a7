#pragma once

#include "base/deadline.hpp"
#include "store/permit_store.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::gateway {

// The permits in the store that requests of this worker hold, so that all nodes together forward so
// many requests of one client at a time. They are renewed while the requests last; those of a node
// that is gone expire. What the store did not hear about a permit that was left is said again until
// the permit has expired by itself.
//
// Bounded: one for each request under way, and kMaxUnreleased. Thread-safety: none; everything
// happens on one event loop.
class SharedPermits final : public std::enable_shared_from_this<SharedPermits> {
 public:
  static constexpr std::size_t kMaxUnreleased = 10'000;
  static constexpr std::size_t kReleasesPerTick = 64;

  struct Options {
    std::uint32_t limit = 1;
    Duration lease{};      // how long a permit lasts without renewal
    std::string prefix{};  // of the names of clients
  };

  // Given back when it is gone, however the request ends.
  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept
        : owner_(std::move(other.owner_)), number_(std::exchange(other.number_, 0)) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~Permit() { release(); }
    void release() noexcept;

   private:
    friend class SharedPermits;
    std::shared_ptr<SharedPermits> owner_{};
    std::uint64_t number_ = 0;
  };

  enum class Outcome : std::uint8_t {
    Acquired,
    LimitReached,      // so many are under way already, on all nodes
    StoreUnavailable,  // the store could not be asked: nobody knows
  };
  using Answered = std::function<void(Outcome outcome, Permit permit)>;

  // REQUIRES: the book outlives it, or close().
  SharedPermits(store::PermitStore& book, Options options);

  void acquire(std::string_view client, base::Deadline deadline, Answered answered);
  // Renews what has been held for a third of its time, and tries again to release. Called more
  // often than that.
  void tick(base::Deadline now);
  // The book is gone: permits expire by themselves.
  void close() noexcept { store_ = nullptr; }

  [[nodiscard]] std::size_t held() const noexcept { return held_.size(); }

 private:
  struct Held {
    store::PermitName name;
    base::Deadline renew_at;
  };
  struct Unreleased {
    store::PermitName name;
    base::Deadline expires;
  };
  void release(std::uint64_t number);
  void release(Unreleased permit);
  [[nodiscard]] base::Deadline next_renewal(base::Deadline now) const;

  store::PermitStore* store_;
  Options options_;
  std::string node_;  // a name that no other worker has
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Held> held_;
  std::deque<Unreleased> unreleased_;
};

}  // namespace penstock::gateway
