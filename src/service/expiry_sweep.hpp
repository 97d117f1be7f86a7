#pragma once

#include "base/deadline.hpp"
#include "service/reservation_refund.hpp"
#include "store/reservation_store.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace penstock::service {

// Refunds reservations that were not settled in time: reads which are due and expires them a few at
// a time, so that requests do not wait behind them. The retry queue repeats steps that the store
// did not answer.
//
// Thread-safety: none; everything happens on one event loop.
class ExpirySweep final : public std::enable_shared_from_this<ExpirySweep> {
 public:
  static constexpr std::size_t kPerSweep = 500;
  static constexpr std::size_t kMaxInFlight = 16;

  explicit ExpirySweep(ReservationDeps deps) : deps_(std::move(deps)) {}

  // Does nothing while an earlier sweep is in flight.
  void start();

 private:
  void send_more();
  // `done` receives whether the store answered.
  void expire(const store::ReservationRequest& ask, base::Deadline deadline,
              const std::function<void(Result<void>)>& done);
  void expire_later(const store::ReservationRequest& ask);
  void note_refunded(const std::string& id);
  void finish_one();

  ReservationDeps deps_;
  base::Deadline deadline_{};
  std::deque<std::string> due_;
  std::size_t in_flight_ = 0;
  bool is_sending_ = false;  // answers may come before a call returns
};

}  // namespace penstock::service
