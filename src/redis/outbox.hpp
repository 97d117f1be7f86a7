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
class Outbox {
 public:
  void add(std::unique_ptr<Call> call, Error error) {
    if (call != nullptr) letters_.push_back({std::move(call), std::move(error)});
  }
  [[nodiscard]] bool empty() const noexcept { return letters_.empty(); }

  // Calls may add more, or even call this again.
  void deliver() {
    while (!letters_.empty()) {
      Letter letter = std::move(letters_.front());
      letters_.pop_front();
      letter.call->on_reply(std::move(letter.error));
    }
  }

 private:
  struct Letter {
    std::unique_ptr<Call> call;
    Error error;
  };

  std::deque<Letter> letters_;
};

}  // namespace penstock::redis
