#pragma once

#include "base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace penstock::wire::resp {

// Replies in the order of their commands, though some come later than others: the text behind a
// missing reply waits for it.
//
// Thread-safety: none.
class ReplyQueue {
 public:
  using Ticket = std::uint64_t;

  // Where a reply that is known at once is written.
  [[nodiscard]] std::string& end() { return waiting_.empty() ? ready_ : waiting_.back().behind; }

  // Keeps a place for a reply that comes later.
  [[nodiscard]] Ticket reserve_place() {
    waiting_.emplace_back();
    return first_ + waiting_.size() - 1;
  }

  // `write` is given the text to append to. REQUIRES: once for each place.
  template <class Write>
  void fill(Ticket ticket, const Write& write) {
    PENSTOCK_CHECK(ticket >= first_ && ticket - first_ < waiting_.size());
    PendingReply& place = waiting_[static_cast<std::size_t>(ticket - first_)];
    PENSTOCK_CHECK(!place.is_filled);
    place.is_filled = true;
    if (ticket == first_) {
      write(ready_);
    } else {
      write(place.reply);
      held_ += place.reply.size();
    }
    while (!waiting_.empty() && waiting_.front().is_filled) {
      held_ -= waiting_.front().reply.size() + waiting_.front().counted;
      ready_ += waiting_.front().reply;
      ready_ += waiting_.front().behind;
      waiting_.pop_front();
      ++first_;
    }
  }

  // Counts the bytes written to end(). Call it before the next place is reserved or filled.
  void count_end() noexcept {
    if (waiting_.empty()) return;
    PendingReply& last = waiting_.back();
    held_ += last.behind.size() - last.counted;
    last.counted = last.behind.size();
  }
  // Bytes that wait for a reply that is missing.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }

  // Bytes to send.
  [[nodiscard]] std::string& ready() noexcept { return ready_; }
  [[nodiscard]] const std::string& ready() const noexcept { return ready_; }
  [[nodiscard]] std::size_t missing() const noexcept { return waiting_.size(); }

 private:
  struct PendingReply {
    std::string reply{};
    std::string behind{};     // replies that were known at once
    std::size_t counted = 0;  // of it, in held_
    bool is_filled = false;
  };

  std::string ready_;
  std::deque<PendingReply> waiting_;
  std::size_t held_ = 0;
  Ticket first_ = 0;  // the ticket of the first that waits
};

}  // namespace penstock::wire::resp
