#include "wire/resp/transaction.hpp"

#include "base/check.hpp"

#include <utility>

namespace penstock::wire::resp {

void Transaction::begin() {
  PENSTOCK_CHECK(state_ == State::None);
  state_ = State::Open;
}

bool Transaction::add(std::span<const std::string_view> words, const Limits& limits) {
  Queued queued;
  std::size_t size = 0;
  for (const std::string_view word : words) size += word.size();
  // the text and the length of each word
  const std::size_t bytes = size + words.size() * sizeof(std::size_t);
  if (commands_.size() == limits.commands || bytes_ + bytes > limits.bytes) {
    abort();
    return false;
  }
  queued.text.reserve(size);
  queued.sizes.reserve(words.size());
  for (const std::string_view word : words) {
    queued.text += word;
    queued.sizes.push_back(word.size());
  }
  bytes_ += bytes;
  commands_.push_back(std::move(queued));
  return true;
}

void Transaction::abort() {
  discard();
  state_ = State::Aborted;
}

void Transaction::discard() {
  commands_ = {};
  words_ = {};
  next_ = 0;
  bytes_ = 0;
  state_ = State::None;
}

std::size_t Transaction::run() {
  PENSTOCK_CHECK(state_ == State::Open);
  const std::size_t count = commands_.size();
  state_ = State::Running;
  if (count == 0) discard();
  return count;
}

std::span<const std::string_view> Transaction::front() {
  PENSTOCK_CHECK(is_running());
  const Queued& queued = commands_[next_];
  words_.clear();
  std::size_t at = 0;
  for (const std::size_t size : queued.sizes) {
    words_.push_back(std::string_view(queued.text).substr(at, size));
    at += size;
  }
  return words_;
}

void Transaction::pop() {
  PENSTOCK_CHECK(is_running());
  if (++next_ == commands_.size()) discard();
}

}  // namespace penstock::wire::resp
