#pragma once

#include "base/deadline.hpp"
#include "core/concurrency.hpp"
#include "penstock/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace penstock::store {

// One of the seats of a key, for somebody.
struct SeatName {
  std::string key;
  std::string id;  // chosen by whoever asks; asking again with it is no second seat
};

// Who is at what now: seats of keys, see core::Seats. Answers come as those of a Store.
//
// Thread-safety: none; everything happens on one event loop.
class SeatBook {
 public:
  template <class T>
  using Answered = std::function<void(Result<T>)>;

  static constexpr Duration kLongest = Days{1};  // of a seat, without renewal
  static constexpr Duration kUsual = std::chrono::seconds{30};
  static constexpr std::int64_t kMostSeats = 1'000'000;
  static constexpr std::size_t kLongestId = 200;

  SeatBook() = default;
  SeatBook(const SeatBook&) = delete;
  SeatBook& operator=(const SeatBook&) = delete;
  virtual ~SeatBook() = default;

  // REQUIRES, here and below: 0 < lasts <= kLongest, 0 < limit <= kMostSeats.
  virtual void acquire(SeatName seat, std::uint32_t limit, Duration lasts, base::Deadline deadline,
                       Answered<core::SeatAnswer> answered) = 0;
  virtual void renew(SeatName seat, Duration lasts, base::Deadline deadline,
                     Answered<core::SeatAnswer> answered) = 0;
  // Whether it was held.
  virtual void release(SeatName seat, base::Deadline deadline, Answered<bool> answered) = 0;
};

}  // namespace penstock::store
