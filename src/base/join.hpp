#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace penstock::base {

// Calls `done` when all open parts have finished. Parts may finish before the next one starts: the
// loop that starts them is a part of its own.
//
//     join.add();
//     for (Call& call : calls) {
//       join.add();
//       send(call, [&] { join.finish_one(); });
//     }
//     join.finish_one();
//
// Can be used again afterwards, also by `done`. Thread-safety: none.
class Join {
 public:
  explicit Join(std::function<void()> done) : done_(std::move(done)) {}
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  void add() noexcept { ++open_; }
  // REQUIRES: a part is open.
  void finish_one() {
    if (--open_ == 0) done_();
  }
  [[nodiscard]] std::size_t open() const noexcept { return open_; }

 private:
  std::function<void()> done_;
  std::size_t open_ = 0;
};

}  // namespace penstock::base
