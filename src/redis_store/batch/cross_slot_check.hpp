#pragma once

#include "base/deadline.hpp"
#include "redis_store/batch/multi_check_command.hpp"
#include "redis_store/batch/plan.hpp"
#include "redis_store/command_executor.hpp"

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

// A multi-limit check whose keys live in several slots of a cluster. The slots are charged one
// after the other, in the order of their numbers, which is the same for every node. When one
// denies or fails, those before it are refunded and those after it are peeked.
//
// A denial stays a denial, whatever else fails: a limit whose slot could not be asked then shows
// its full capacity. The caller is answered when all is settled, and by its deadline at the
// latest. Refunds go on in the background for up to kRefundTimeout.
//
// Thread-safety: none; everything happens on the executor. Held by its own handlers.
class CrossSlotCheck : public std::enable_shared_from_this<CrossSlotCheck> {
 public:
  static constexpr std::chrono::milliseconds kRefundTimeout{1000};

  // The limits of one slot.
  struct Step {
    MultiCheckRequest request{};
    std::vector<std::size_t> positions{};  // of its checks in the whole request
  };
  [[nodiscard]] static std::vector<Step> steps_of(const MultiCheckRequest& request);

  struct Dependencies {
    boost::asio::any_io_executor executor{};
    // Answers exactly once, never from within the call.
    std::function<void(const MultiCheckRequest&, Plan::Kind, base::Deadline, OnMultiCheckResult)>
        ask{};
    // Hears of keys that may have been refunded. Others may remember a denial that was due to the
    // charge.
    std::function<void(const std::vector<std::string>& keys)> on_refunded{};
  };

  CrossSlotCheck(Dependencies dependencies, std::vector<Step> steps, base::Deadline deadline,
                 CommandExecutor::Decided decided);

  void start() { charge(0); }

 private:
  void charge(std::size_t step);
  void on_charged(std::size_t step, const Result<MultiCheckResult>& said);
  // Refunds the steps before `failed` and peeks those after it.
  void turn_back(std::size_t failed);
  void refund(std::size_t step);
  void peek(std::size_t step);
  void note(std::size_t step, const MultiCheckResult& said);
  void close_one();
  // Once, with the first of: all is settled, the deadline.
  void answer();
  void answer_by_deadline();

  Dependencies dependencies_;
  std::vector<Step> steps_;
  base::Deadline deadline_;
  CommandExecutor::Decided decided_;  // empty once it was called
  std::vector<Decision> decisions_;
  bool is_denied_ = false;
  std::optional<Error> failure_;
  std::size_t open_ = 0;  // refunds and peeks without an answer
  boost::asio::steady_timer timer_;
};

}  // namespace penstock::redis_store
