#pragma once

#include "base/deadline.hpp"
#include "store/stores.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::gateway {

// Permits in the store held by requests of this worker, which limit the requests in flight per
// client across all nodes. They are renewed while the requests last; those of a crashed node
// expire. Failed releases are retried until the permit has expired.
//
// Bounded: one per request in flight, plus kMaxUnreleased. Thread-safety: none; everything runs on
// one event loop.
class SharedPermits final : public std::enable_shared_from_this<SharedPermits> {
 public:
  static constexpr std::size_t kMaxUnreleased = 10'000;
  static constexpr std::size_t kReleasesPerTick = 64;

  struct Options {
    std::uint32_t limit = 1;
    Duration lease{};      // lifetime of a permit without renewal
    std::string prefix{};  // of client names
  };

  // Released on destruction.
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
    LimitReached,      // across all nodes
    StoreUnavailable,  // the outcome is unknown
  };
  using Answered = std::function<void(Outcome outcome, Permit permit)>;

  // REQUIRES: the store outlives it, or close() is called.
  SharedPermits(store::PermitStore& book, Options options);

  void acquire(std::string_view client, base::Deadline deadline, Answered answered);
  // Renews permits after a third of their lifetime, and retries releases. Call more often than
  // that.
  void tick(base::Deadline now);
  // The store is being destroyed; permits expire by themselves.
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
  std::string node_;  // unique per worker
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Held> held_;
  std::deque<Unreleased> unreleased_;
};

}  // namespace penstock::gateway
