// Several commands that are sent as one. They are run in order and as a whole when EXEC arrives, so
// that a transaction that fails has charged nothing. They are not isolated: another client's
// command may be decided between two of them.
#include "wire/resp/transaction.hpp"

#include "base/check.hpp"
#include "wire/resp/commands.hpp"

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

// MULTI: OK. Later commands are answered with QUEUED, up to EXEC or DISCARD.
void multi(const CommandContext& context) {
  Transaction& transaction = context.session().transaction();
  if (transaction.is_open()) return context.error("ERR MULTI calls can not be nested");
  transaction.begin();
  context.reply().simple("OK");
}

// EXEC: an array of the replies to the queued commands, an error being one of them; or an error,
// when one of the commands was rejected before, and then none was run.
void exec(const CommandContext& context) {
  Transaction& transaction = context.session().transaction();
  if (!transaction.is_open()) return context.error("ERR EXEC without MULTI");
  if (transaction.state() == Transaction::State::Aborted) {
    transaction.discard();
    return context.error("EXECABORT Transaction discarded because of previous errors.");
  }
  context.reply().array(transaction.run());
}

// DISCARD: OK, and nothing is run.
void discard(const CommandContext& context) {
  Transaction& transaction = context.session().transaction();
  if (!transaction.is_open()) return context.error("ERR DISCARD without MULTI");
  transaction.discard();
  context.reply().simple("OK");
}

// WATCH key …: an error. Changes by other clients are not watched.
void watch(const CommandContext& context) {
  if (context.session().transaction().is_open()) {
    return context.error("ERR WATCH inside MULTI is not allowed");
  }
  context.error("ERR WATCH is not supported: MULTI and EXEC work without it");
}

// UNWATCH: OK; nothing is watched.
void unwatch(const CommandContext& context) { context.reply().simple("OK"); }

}  // namespace penstock::wire::resp
