#pragma once

#include "penstock/result.hpp"
#include "redis/client.hpp"

#include <deque>
#include <memory>
#include <utility>

namespace penstock::redis {

// Errors that are still to be told. They are told in the order they came, and one that comes while
// another is being told waits for its turn.
//
// Thread-safety: none.
class DeferredErrors {
 public:
  void add(std::unique_ptr<Call> call, Error error) {
    if (call != nullptr) errors_.push_back({std::move(call), std::move(error)});
  }
  [[nodiscard]] bool empty() const noexcept { return errors_.empty(); }

  // Calls may add more, or even call this again.
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
