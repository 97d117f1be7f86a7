#include "wire/resp/conversation.hpp"

#include "base/free_string.hpp"
#include "wire/resp/commands.hpp"
#include "wire/resp/exchange.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::wire::resp {
namespace {

using Progress = penstock::resp::CommandReader::Progress;

// Replies that wait to be sent; then reading stops until the client has taken them.
constexpr std::size_t kMostUnsent = std::size_t{64} << 10U;
// What is kept of a buffer for the next replies.
constexpr std::size_t kKept = std::size_t{16} << 10U;
// What somebody who has not said who they are can make us keep.
constexpr penstock::resp::CommandLimits kForStrangers{.bytes = std::size_t{16} << 10U, .words = 16};

// A web page can make a browser send a request here, with commands in its body. As Redis does: a
// client that speaks HTTP is not a client of ours. GET is a command too, but not with these words.
bool is_http(std::span<const std::string_view> words) {
  constexpr std::array<std::string_view, 10> kNoCommands{
      "post", "put", "delete", "patch", "head", "options", "connect", "trace", "pri", "host:"};
  if (words.size() == 3 && is_word(words.front(), "get") && words.back().starts_with("HTTP/")) {
    return true;
  }
  return std::any_of(kNoCommands.begin(), kNoCommands.end(),
                     [&](std::string_view word) { return is_word(words.front(), word); });
}

}  // namespace

Conversation::Conversation(Surroundings& surroundings, std::string peer)
    : surroundings_(surroundings) {
  session_.id = ++surroundings.last_client;
  session_.peer = std::move(peer);
  set_known(surroundings.terms.passwords.empty());
}

void Conversation::set_known(bool is_known) {
  session_.is_known = is_known;
  const penstock::resp::CommandLimits& limits = surroundings_.terms.limits;
  reader_.set_limits(
      is_known ? limits
               : penstock::resp::CommandLimits{.bytes = std::min(limits.bytes, kForStrangers.bytes),
                                               .words = kForStrangers.words});
}

Conversation::Step Conversation::advance() {
  advancing_ = true;
  Step step = Step::Pause;
  while (!closing_ && queue_.ready().size() + queue_.held() < kMostUnsent &&
         queue_.missing() < surroundings_.terms.most_under_way) {
    const Progress progress = next_command();
    if (progress == Progress::Ready && awaits_answers() && waits_for_others(words_)) {
      deferred_ = !transaction_.is_running();
      break;
    }
    if (progress == Progress::Ready && is_http(words_)) {
      close_on_http();
    } else if (progress == Progress::Ready) {
      run();
    } else if (progress == Progress::Broken) {
      refuse("ERR " + reader_.error());
    } else if (finishing_ && reader_.commands() > 0 && !reader_.is_within_command()) {
      closing_ = true;
    } else {
      step = Step::Read;
      break;
    }
  }
  advancing_ = false;
  return closing_ ? Step::Close : step;
}

Progress Conversation::next_command() {
  if (transaction_.is_running()) {
    words_ = transaction_.front();
    return Progress::Ready;
  }
  const Progress progress = std::exchange(deferred_, false) ? Progress::Ready : reader_.next();
  if (progress == Progress::Ready) words_ = reader_.words();
  return progress;
}

void Conversation::run() {
  const bool is_queued = transaction_.is_running();
  ++surroundings_.statistics.requests;
  run_command(Exchange(*this, words_));
  queue_.count_end();
  if (is_queued) transaction_.pop();
}

void Conversation::close_on_http() {
  ++surroundings_.statistics.http_requests;
  surroundings_.statistics.http_peer = session_.peer;
  closing_ = true;
}

std::string_view Conversation::take_output() {
  if (sending_.capacity() > kKept) base::free_string(sending_);
  sending_.clear();
  std::swap(queue_.ready(), sending_);
  return sending_;
}

void Conversation::refuse(std::string_view error) {
  count_mistake();
  penstock::resp::ReplyWriter(queue_.end(), session_.version).error(error);
  closing_ = true;
}

void Conversation::abandon() noexcept {
  abandoned_ = true;
  on_answer = nullptr;
}

void Later::fail(const Error& error) const {
  conversation_->answer(ticket_, [&](std::string& out) {
    const bool is_mistake =
        error.code == ErrorCode::InvalidInput || error.code == ErrorCode::Overflow;
    ++conversation_->surroundings().statistics.responses[is_mistake ? 4 : 5];
    std::string text = is_mistake ? "ERR " : "ERR store unavailable: ";
    if (error.code == ErrorCode::Overflow) text += "increment or decrement would overflow: ";
    if (error.code == ErrorCode::CapacityExhausted) text = "ERR ";
    ReplyWriter(out, version_).error(text + error.detail);
  });
}

}  // namespace penstock::wire::resp
