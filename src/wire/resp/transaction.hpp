#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::wire::resp {

// The commands between MULTI and EXEC of one client. Nothing runs before EXEC; then they run one
// after the other, and other clients may be served in between. Bounded: a transaction that grows
// too large, or has a command that cannot run, is aborted and keeps nothing.
//
// Thread-safety: none.
class Transaction {
 public:
  struct Limits {
    std::size_t commands = 1000;
    std::size_t bytes = std::size_t{1} << 20U;
  };
  enum class State : std::uint8_t { None, Open, Aborted, Running };

  [[nodiscard]] State state() const noexcept { return state_; }
  // Between MULTI and EXEC or DISCARD.
  [[nodiscard]] bool is_open() const noexcept {
    return state_ == State::Open || state_ == State::Aborted;
  }
  [[nodiscard]] bool is_running() const noexcept { return state_ == State::Running; }

  void begin();  // REQUIRES: state None
  // False when that would be too much; then it is aborted.
  [[nodiscard]] bool add(std::span<const std::string_view> words, const Limits& limits);
  void abort();    // EXEC will fail
  void discard();  // back to None

  // EXEC: how many commands there are to run. REQUIRES: state Open.
  [[nodiscard]] std::size_t run();
  // The next command to run; valid until pop(). REQUIRES: is_running().
  [[nodiscard]] std::span<const std::string_view> front();
  void pop();

 private:
  // Words of a command, in one text.
  struct Queued {
    std::string text;
    std::vector<std::size_t> sizes;
  };

  std::vector<Queued> commands_;
  std::vector<std::string_view> words_;  // of the front
  std::size_t next_ = 0;
  std::size_t bytes_ = 0;
  State state_ = State::None;
};

}  // namespace penstock::wire::resp
