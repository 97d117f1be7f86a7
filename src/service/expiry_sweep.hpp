#pragma once

#include "base/deadline.hpp"
#include "service/request_flow.hpp"
#include "store/reservation_book.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace penstock::service {

// Gives back what nobody has settled in time: asks which are over, and expires them a few at a
// time, so that those who wait for the store are not behind all of them. What certainly was not
// given back is tried again with the next sweep, while its limit still counts it.
//
// Thread-safety: none; everything happens on one event loop.
class ExpirySweep final : public std::enable_shared_from_this<ExpirySweep> {
 public:
  static constexpr std::size_t kPerSweep = 500;
  static constexpr std::size_t kAtOnce = 16;

  explicit ExpirySweep(const Colleagues& colleagues) : colleagues_(colleagues) {}

  // Does nothing while the one before is under way.
  void start();

 private:
  // What one that expired has held.
  struct Owed {
    std::vector<store::HeldCount> held;
    std::uint64_t units = 0;
    base::Deadline begun{};
  };

  void send_more();
  void expire(const std::string& id);
  void pay(Owed owed);
  void close_one();

  Colleagues colleagues_;
  base::Deadline deadline_{};
  std::deque<std::string> due_;
  std::deque<Owed> owed_;  // of earlier sweeps; kPerSweep at most
  std::size_t retries_ = 0;
  std::size_t under_way_ = 0;
  bool is_sending_ = false;  // answers may come before a call returns
};

}  // namespace penstock::service
