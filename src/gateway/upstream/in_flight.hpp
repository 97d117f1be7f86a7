#pragma once

#include "base/deadline.hpp"
#include "store/stores.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace penstock::gateway {

// Requests in flight in all workers: per client and per upstream. A Permit is acquired when a
// request starts and released when the request is destroyed.
//
// Bounded: clients without permits are forgotten; of upstreams, a number stays for each name that a
// configuration had. Thread-safety: all members, from any thread;
// REQUIRES: it outlives its permits.
class InFlight {
 public:
  using Counter = std::atomic<std::size_t>;

  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          client_(std::move(other.client_)),
          upstream_(std::exchange(other.upstream_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(client_, other.client_);
      std::swap(upstream_, other.upstream_);
      return *this;
    }
    ~Permit() { release(); }
    void release() noexcept;

   private:
    friend class InFlight;
    InFlight* owner_ = nullptr;
    std::string client_{};
    Counter* upstream_ = nullptr;
  };

  // The counter of the upstream with this name, for all workers, across reloads.
  [[nodiscard]] Counter& to_upstream(const std::string& name);

  // Empty when the limit is reached.
  [[nodiscard]] std::optional<Permit> acquire(std::string_view client, std::size_t limit);
  [[nodiscard]] static std::optional<Permit> acquire(Counter& upstream, std::size_t limit);

  [[nodiscard]] std::size_t clients() const;  // that hold permits

 private:
  struct TextHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct Shard {
    mutable std::mutex mutex{};
    // Guarded by mutex:
    std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> clients{};
  };
  [[nodiscard]] Shard& shard_of(std::string_view client);
  void release(std::string_view client);

  std::array<Shard, 16> shards_;
  std::mutex upstreams_mutex_;
  // Guarded by upstreams_mutex_, except the counters: they never move, and are independent numbers,
  // so that relaxed order is enough.
  std::map<std::string, Counter> upstreams_;
};

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

  // Permits that are held are renewed with the new options.
  void use(Options options) { options_ = std::move(options); }

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
