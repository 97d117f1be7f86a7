#pragma once

#include "base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace penstock::wire::resp {

// Replies in the order of their commands, though some are known later than others: what is written
// behind a reply that is missing waits for it.
//
// Thread-safety: none.
class ReplyQueue {
 public:
  using Ticket = std::uint64_t;

  // Where a reply that is known at once is written.
  [[nodiscard]] std::string& end() { return waiting_.empty() ? ready_ : waiting_.back().behind; }

  // Keeps a place for a reply that comes later.
  [[nodiscard]] Ticket keep_place() {
    waiting_.emplace_back();
    return first_ + waiting_.size() - 1;
  }

  // `write` is given the text to append to. REQUIRES: once for each place.
  template <class Write>
  void fill(Ticket ticket, const Write& write) {
    PENSTOCK_CHECK(ticket >= first_ && ticket - first_ < waiting_.size());
    Place& place = waiting_[static_cast<std::size_t>(ticket - first_)];
    PENSTOCK_CHECK(!place.is_filled);
    place.is_filled = true;
    write(ticket == first_ ? ready_ : place.reply);
    while (!waiting_.empty() && waiting_.front().is_filled) {
      ready_ += waiting_.front().reply;
      ready_ += waiting_.front().behind;
      waiting_.pop_front();
      ++first_;
    }
  }

  // What can be sent.
  [[nodiscard]] std::string& ready() noexcept { return ready_; }
  [[nodiscard]] const std::string& ready() const noexcept { return ready_; }
  [[nodiscard]] std::size_t missing() const noexcept { return waiting_.size(); }

 private:
  struct Place {
    std::string reply{};
    std::string behind{};  // replies that were known at once
    bool is_filled = false;
  };

  std::string ready_;
  std::deque<Place> waiting_;
  Ticket first_ = 0;  // the ticket of the first that waits
};

}  // namespace penstock::wire::resp
