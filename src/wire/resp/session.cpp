#include "wire/resp/session.hpp"

#include "base/text.hpp"
#include "wire/resp/command_context.hpp"
#include "wire/resp/commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::wire::resp {
namespace {

using Progress = penstock::resp::CommandReader::Progress;

// Unsent replies; beyond it reading stops until the client has read them.
constexpr std::size_t kMaxUnsentBytes = std::size_t{64} << 10U;
// Bytes of a buffer that are kept for the next replies.
constexpr std::size_t kRetainedBytes = std::size_t{16} << 10U;
// For clients that are not authenticated.
constexpr penstock::resp::CommandLimits kUnauthenticatedLimits{.bytes = std::size_t{16} << 10U,
                                                               .words = 16};

// A web page can make a browser send a request here, with commands in its body. As Redis does, a
// client that speaks HTTP is disconnected. GET is a command too, but not with these words.
bool is_http(std::span<const std::string_view> words) {
  constexpr std::array<std::string_view, 10> kNoCommands{
      "post", "put", "delete", "patch", "head", "options", "connect", "trace", "pri", "host:"};
  if (words.size() == 3 && equals_ignoring_case(words.front(), "get") &&
      words.back().starts_with("HTTP/")) {
    return true;
  }
  return std::any_of(kNoCommands.begin(), kNoCommands.end(), [&](std::string_view word) {
    return equals_ignoring_case(words.front(), word);
  });
}

}  // namespace

Session::Session(ServerContext& server_context, std::string peer)
    : server_context_(server_context) {
  client_info_.id = ++server_context.last_client_id;
  client_info_.peer = std::move(peer);
  set_authenticated(server_context.settings.passwords.empty());
}

void Session::set_authenticated(bool is_authenticated) {
  client_info_.is_authenticated = is_authenticated;
  const penstock::resp::CommandLimits& limits = server_context_.settings.limits;
  reader_.set_limits(is_authenticated
                         ? limits
                         : penstock::resp::CommandLimits{
                               .bytes = std::min(limits.bytes, kUnauthenticatedLimits.bytes),
                               .words = kUnauthenticatedLimits.words});
}

Session::Step Session::advance() {
  advancing_ = true;
  bool needs_input = false;
  while (!closing_ && queue_.ready().size() + queue_.held() < kMaxUnsentBytes &&
         queue_.missing() < server_context_.settings.max_in_flight) {
    const Progress progress = next_command();
    if (progress == Progress::Ready && awaits_answers() && waits_for_pending_replies(words_)) {
      deferred_ = !transaction_.is_running();
      break;
    }
    if (progress == Progress::Ready && is_http(words_)) {
      close_on_http();
    } else if (progress == Progress::Ready) {
      run();
    } else if (progress == Progress::Broken) {
      reject("ERR " + reader_.error());
    } else if (server_context_.stopping && reader_.commands() > 0 && !reader_.is_within_command()) {
      closing_ = true;
    } else {
      needs_input = true;
      break;
    }
  }
  advancing_ = false;
  if (closing_) return Step::Close;
  if (needs_input) return Step::Read;
  return awaits_answers() ? Step::Wait : Step::Write;
}

net::Activity Session::activity() const noexcept {
  const std::uint64_t command = reader_.commands();
  if (closing_) return {net::Phase::Write, command};
  if (reader_.is_within_command()) return {net::Phase::Header, command};
  if (awaits_answers()) return {net::Phase::Processing, command};
  // The first command of a client may be on its way when the server stops.
  const bool is_last = server_context_.stopping && command == 0;
  return {is_last ? net::Phase::Linger : net::Phase::Idle, command};
}

Progress Session::next_command() {
  if (transaction_.is_running()) {
    words_ = transaction_.front();
    return Progress::Ready;
  }
  const Progress progress = std::exchange(deferred_, false) ? Progress::Ready : reader_.next();
  if (progress == Progress::Ready) words_ = reader_.words();
  return progress;
}

void Session::run() {
  const bool is_queued = transaction_.is_running();
  ++server_context_.statistics.requests;
  run_command(CommandContext(*this, words_));
  queue_.count_end();
  if (is_queued) transaction_.pop();
}

void Session::close_on_http() {
  ++server_context_.statistics.http_requests;
  server_context_.statistics.last_http_peer = client_info_.peer;
  closing_ = true;
}

std::string_view Session::take_output() {
  if (sending_.capacity() > kRetainedBytes) base::free_string(sending_);
  sending_.clear();
  std::swap(queue_.ready(), sending_);
  return sending_;
}

void Session::reject(std::string_view error) {
  count_client_error();
  penstock::resp::ReplyWriter(queue_.end(), client_info_.version).error(error);
  closing_ = true;
}

void Session::detach() noexcept {
  detached_ = true;
  on_output = nullptr;
}

void DeferredReply::fail(const Error& error) const {
  session_->answer(ticket_, [&](std::string& out) {
    const bool is_client_error =
        error.code == ErrorCode::InvalidInput || error.code == ErrorCode::Overflow;
    ++session_->server_context().statistics.responses[is_client_error ? 4 : 5];
    std::string text = is_client_error ? "ERR " : "ERR store unavailable: ";
    if (error.code == ErrorCode::Overflow) text += "increment or decrement would overflow: ";
    if (error.code == ErrorCode::CapacityExhausted) text = "ERR ";
    ReplyWriter(out, version_).error(text + error.detail);
  });
}

}  // namespace penstock::wire::resp
