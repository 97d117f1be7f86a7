#pragma once

#include "base/deadline.hpp"
#include "redis_store/batch/check_queue.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::redis_store {

// A multi-limit check with keys in several slots of a cluster. The slots are charged one after the
// other, in ascending order, which is the same for every node. When one denies or fails, those
// before it are refunded and those after it are peeked.
//
// A denial stays a denial, whatever else fails: a limit of an unavailable slot then reports its
// full capacity. The caller is answered when all calls have completed, and by its deadline at the
// latest. Refunds continue in the background for up to kRefundTimeout.
//
// Thread-safety: none; everything runs on the executor. Held by its own handlers.
class CrossSlotCheck : public std::enable_shared_from_this<CrossSlotCheck> {
 public:
  static constexpr std::chrono::milliseconds kRefundTimeout{1000};

  // The limits of one slot.
  struct Step {
    CheckRequest request{};
    std::vector<std::size_t> positions{};  // of its checks in the whole request
  };
  [[nodiscard]] static std::vector<Step> steps_of(const CheckRequest& request);

  struct Dependencies {
    boost::asio::any_io_executor executor{};
    // Answers exactly once.
    std::function<void(CheckRequest, Plan::Kind, base::Deadline, Decided)> ask{};
    // Receives keys that may have been refunded. Other nodes may have cached a denial caused by the
    // charge.
    std::function<void(const std::vector<std::string>& keys)> on_refunded{};
  };

  CrossSlotCheck(Dependencies dependencies, std::vector<Step> steps, base::Deadline deadline,
                 Decided decided);

  void start() { charge(0); }

 private:
  void charge(std::size_t step);
  void on_charged(std::size_t step, const Result<std::vector<Decision>>& said);
  // Refunds the steps before `failed` and peeks those after it.
  void turn_back(std::size_t failed);
  void refund(std::size_t step);
  void peek(std::size_t step);
  void note(std::size_t step, const std::vector<Decision>& said);
  void close_one();
  // Called once: when all calls have completed, or at the deadline.
  void answer();
  void answer_by_deadline();

  Dependencies dependencies_;
  std::vector<Step> steps_;
  base::Deadline deadline_;
  Decided decided_;  // empty once it was called
  std::vector<Decision> decisions_;
  bool is_denied_ = false;
  std::optional<Error> failure_;
  std::size_t open_ = 0;  // refunds and peeks without an answer
  boost::asio::steady_timer timer_;
};

}  // namespace penstock::redis_store
