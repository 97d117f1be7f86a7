#pragma once

#include "penstock/result.hpp"
#include "redis/client.hpp"

#include <deque>
#include <memory>
#include <utility>

namespace penstock::redis {

// Errors waiting for delivery, in order. An error added during a delivery is delivered after the
// current one.
//
// Thread-safety: none.
class DeferredErrors {
 public:
  void add(std::unique_ptr<Call> call, Error error) {
    if (call != nullptr) errors_.push_back({std::move(call), std::move(error)});
  }
  [[nodiscard]] bool empty() const noexcept { return errors_.empty(); }

  // Receivers may add errors or call this again.
  void deliver() {
    while (!errors_.empty()) {
      DeferredError deferred = std::move(errors_.front());
      errors_.pop_front();
      deferred.call->on_reply(std::move(deferred.error));
    }
  }

 private:
  struct DeferredError {
    std::unique_ptr<Call> call;
    Error error;
  };

  std::deque<DeferredError> errors_;
};

}  // namespace penstock::redis
