#pragma once

#include "base/deadline.hpp"
#include "store/seat_book.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::gateway {

// The seats in the store that requests of this worker hold, so that all nodes together forward so
// many requests of one client at a time. They are renewed while the requests last; those of a node
// that is gone expire. What the store did not hear about a seat that was left is said again until
// the seat has expired by itself.
//
// Bounded: one for each request under way, and kMostUnreleased. Thread-safety: none; everything
// happens on one event loop.
class SharedSeats final : public std::enable_shared_from_this<SharedSeats> {
 public:
  static constexpr std::size_t kMostUnreleased = 10'000;
  static constexpr std::size_t kReleasesPerTick = 64;

  struct Terms {
    std::uint32_t limit = 1;
    Duration lease{};      // how long a seat lasts without renewal
    std::string prefix{};  // of the names of clients
  };

  // Given back when it is gone, however the request ends.
  class Seat {
   public:
    Seat() = default;
    Seat(Seat&& other) noexcept
        : owner_(std::move(other.owner_)), number_(std::exchange(other.number_, 0)) {}
    Seat& operator=(Seat&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~Seat() { leave(); }
    void leave() noexcept;

   private:
    friend class SharedSeats;
    std::shared_ptr<SharedSeats> owner_{};
    std::uint64_t number_ = 0;
  };

  enum class Outcome : std::uint8_t {
    Taken,
    Full,      // so many are under way already, on all nodes
    NotAsked,  // the store could not be asked: nobody knows
  };
  using Answered = std::function<void(Outcome outcome, Seat seat)>;

  // REQUIRES: the book outlives it, or close().
  SharedSeats(store::SeatBook& book, Terms terms);

  void take(std::string_view client, base::Deadline deadline, Answered answered);
  // Renews what has been held for a third of its time, and tries again to release. Called more
  // often than that.
  void tick(base::Deadline now);
  // The book is gone: seats expire by themselves.
  void close() noexcept { book_ = nullptr; }

  [[nodiscard]] std::size_t held() const noexcept { return held_.size(); }

 private:
  struct Held {
    store::SeatName name;
    base::Deadline renew_at;
  };
  struct Unreleased {
    store::SeatName name;
    base::Deadline expires;
  };
  void leave(std::uint64_t number);
  void release(Unreleased seat);
  [[nodiscard]] base::Deadline next_renewal(base::Deadline now) const;

  store::SeatBook* book_;
  Terms terms_;
  std::string node_;  // a name that no other worker has
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Held> held_;
  std::deque<Unreleased> unreleased_;
};

}  // namespace penstock::gateway
