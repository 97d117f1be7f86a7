#pragma once

#include "redis_store/command_executor.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::redis_store {

// A request that waits for its decisions.
struct WaitingRequest {
  MultiCheckRequest request{};
  base::Deadline deadline{};
  CommandExecutor::Decided decided{};
};

// Requests that fit one call.
struct MultiCheckBatch {
  CallKind kind = CallKind::Decide;
  std::uint16_t slot = 0;
  std::vector<WaitingRequest> requests{};
  base::Deadline deadline{};
};

// Groups multi-limit checks into as few calls as possible. It has no sockets.
class MultiCheckQueue {
 public:
  // Checks of one call. Redis blocks all other clients meanwhile: about a millisecond.
  static constexpr std::size_t kMaxBuckets = 256;
  static constexpr std::size_t kMaxOthers = 64;

  // REQUIRES: the request has checks and no guard; in a cluster, its keys share a slot.
  void add(WaitingRequest request) { waiting_.push_back(std::move(request)); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

  // All batches. Requests after their deadline are answered with Unavailable instead: nothing was
  // charged.
  [[nodiscard]] std::vector<MultiCheckBatch> take(CheckQueue::Spread spread, base::Deadline now);

  // Answers all requests with this error.
  void fail_all(const Error& error);

 private:
  std::vector<WaitingRequest> waiting_;
};

}  // namespace penstock::redis_store
