#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace penstock::gateway {

// Requests in flight in all workers: per client and per upstream. A Permit is acquired when a
// request starts and released when the request is destroyed.
//
// Bounded: clients without permits are forgotten. Thread-safety: all members, from any thread;
// REQUIRES: it outlives its permits.
class InFlight {
 public:
  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          client_(std::move(other.client_)),
          upstream_(other.upstream_) {}
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
    std::size_t upstream_ = 0;  // used when there is no client
  };

  explicit InFlight(std::size_t upstreams);

  // Empty when the limit is reached.
  [[nodiscard]] std::optional<Permit> acquire(std::string_view client, std::size_t limit);
  [[nodiscard]] std::optional<Permit> acquire(std::size_t upstream, std::size_t limit);

  [[nodiscard]] std::size_t to_upstream(std::size_t upstream) const noexcept;
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
  // Independent numbers, so relaxed order is enough.
  std::vector<std::atomic<std::size_t>> upstreams_;
};

}  // namespace penstock::gateway
