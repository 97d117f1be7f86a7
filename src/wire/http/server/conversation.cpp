#include "wire/http/server/conversation.hpp"

#include "base/check.hpp"
#include "base/deadline.hpp"
#include "base/free_string.hpp"

#include <algorithm>
#include <utility>

namespace penstock::http {
namespace {

// Answers that wait for others to be sent with them.
constexpr std::size_t kCollected = std::size_t{64} << 10U;
// What is kept of a buffer for the next answer.
constexpr std::size_t kKept = std::size_t{4} << 10U;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Conversation::Conversation(Surroundings& surroundings, net::Peer peer)
    : surroundings_(surroundings), peer_(std::move(peer)), reader_(surroundings.limits) {}

Conversation::Step Conversation::advance() {
  using Progress = RequestReader::Progress;
  // All of it is sent: an idle connection does not hold a large answer.
  if (sending_.capacity() > kKept) base::free_string(sending_);
  while (!finished_ && !awaiting_ && out_.size() < kCollected) {
    const Progress progress = reader_.next();
    if (progress == Progress::Ready) {
      ask();
    } else if (progress == Progress::SendContinue) {
      out_ += kContinue;
    } else if (progress == Progress::Refused) {
      refuse(reader_.refusal());
    } else if (finishing_ && reader_.requests_begun() > 0 &&
               reader_.stage() == RequestReader::Stage::Nothing) {
      finished_ = true;
    } else {
      return out_.empty() ? Step::Read : Step::Write;
    }
  }
  if (!out_.empty()) return Step::Write;
  return finished_ ? Step::Close : Step::Wait;
}

std::string_view Conversation::take_output() {
  sending_.clear();
  std::swap(out_, sending_);
  return sending_;
}

void Conversation::ask() {
  Request& request = reader_.request();
  request.peer = peer_.address;
  request.listens_on_loopback = peer_.listens_on_loopback;
  request.deadline = base::deadline_after(surroundings_.request_timeout);
  ++surroundings_.statistics.requests;
  awaiting_ = true;
  asking_ = true;
  surroundings_.handler.handle(
      request, [self = shared_from_this()](const Response& response) { self->answer(response); });
  asking_ = false;
}

void Conversation::answer(const Response& response) {
  if (abandoned_) return;
  PENSTOCK_CHECK(awaiting_);  // answers exactly once
  awaiting_ = false;
  After after = reader_.is_http10() ? After::KeepAliveStated : After::KeepAlive;
  // Requests that were pipelined are answered before the connection is closed.
  const bool is_last = draining_ && !reader_.has_more();
  if (finishing_ || is_last || !reader_.keeps_alive()) after = After::Close;
  const BodyPart part = reader_.request().method == "HEAD" ? BodyPart::Omitted : BodyPart::Sent;
  const std::string_view date = surroundings_.date.at(surroundings_.clock.now());
  append_response(out_, response, date, after, part);
  ++surroundings_.statistics.responses.at(std::min(response.status / 100, 5U));
  finished_ = after == After::Close;
  if (!asking_ && on_answer) on_answer();
}

void Conversation::refuse(const Refusal& why) {
  const Response response = to_response(why);
  append_response(out_, response, surroundings_.date.at(surroundings_.clock.now()), After::Close,
                  BodyPart::Sent);
  ++surroundings_.statistics.responses.at(why.status / 100);
  finished_ = true;
}

void Conversation::abandon() noexcept {
  abandoned_ = true;
  on_answer = nullptr;
}

}  // namespace penstock::http
