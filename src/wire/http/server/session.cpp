#include "wire/http/server/session.hpp"

#include "base/check.hpp"
#include "base/deadline.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace penstock::http {
namespace {

// Responses that are collected before they are sent.
constexpr std::size_t kMaxBatchedBytes = std::size_t{64} << 10U;
// Bytes of a buffer that are kept for the next response.
constexpr std::size_t kRetainedBytes = std::size_t{4} << 10U;

constexpr HttpError kRequestTimeout{408, "the request did not arrive in time"};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Session::Session(ServerContext& server_context, net::Peer peer)
    : server_context_(server_context), peer_(std::move(peer)), reader_(server_context.limits) {}

Session::Step Session::advance() {
  using Progress = RequestReader::Progress;
  while (!finished_ && !awaiting_response_ && out_.size() < kMaxBatchedBytes) {
    const Progress progress = reader_.next();
    if (progress == Progress::Ready) {
      dispatch();
    } else if (progress == Progress::SendContinue) {
      out_ += kContinue;
    } else if (progress == Progress::Invalid) {
      reject(reader_.error());
    } else if (server_context_.stopping && reader_.requests_begun() > 0 &&
               reader_.stage() == RequestReader::Stage::Nothing) {
      finished_ = true;
    } else {
      return out_.empty() ? Step::Read : Step::Write;
    }
  }
  if (!out_.empty()) return Step::Write;
  return finished_ ? Step::Close : Step::Wait;
}

// What was taken before is sent: an idle connection does not hold a large response.
std::string_view Session::take_output() {
  if (sending_.capacity() > kRetainedBytes) base::free_string(sending_);
  sending_.clear();
  std::swap(out_, sending_);
  return sending_;
}

net::Activity Session::activity() const noexcept {
  using Stage = RequestReader::Stage;
  const std::uint64_t request = reader_.requests_begun();
  if (finished_) return {net::Phase::Write, request};
  if (awaiting_response_) return {net::Phase::Processing, request};
  if (reader_.stage() == Stage::Header) return {net::Phase::Header, request};
  if (reader_.stage() == Stage::Body) return {net::Phase::Body, request};
  // The first request of a client may be on its way when the server stops.
  const bool is_last = server_context_.stopping && request == 0;
  return {is_last ? net::Phase::Linger : net::Phase::Idle, request};
}

net::TimeoutAction Session::on_timeout(net::Phase phase) {
  if (phase != net::Phase::Header && phase != net::Phase::Body) return net::TimeoutAction::Abort;
  reject(kRequestTimeout);
  return net::TimeoutAction::Reject;
}

void Session::dispatch() {
  Request& request = reader_.request();
  request.peer = peer_.address;
  request.listens_on_loopback = peer_.listens_on_loopback;
  request.deadline = base::deadline_after(server_context_.request_timeout);
  ++server_context_.statistics.requests;
  awaiting_response_ = true;
  in_handler_ = true;
  server_context_.handler.handle(
      request, [self = shared_from_this()](const Response& response) { self->answer(response); });
  in_handler_ = false;
}

void Session::answer(const Response& response) {
  if (detached_) return;
  PENSTOCK_CHECK(awaiting_response_);  // responds exactly once
  awaiting_response_ = false;
  ConnectionHeader connection_header =
      reader_.is_http10() ? ConnectionHeader::KeepAlive : ConnectionHeader::Omitted;
  // Requests that were pipelined are answered before the connection is closed.
  const bool is_last = server_context_.draining && !reader_.has_more();
  if (server_context_.stopping || is_last || !reader_.keeps_alive()) {
    connection_header = ConnectionHeader::Close;
  }
  const BodyPart part = reader_.request().method == "HEAD" ? BodyPart::Omitted : BodyPart::Sent;
  const std::string_view date = server_context_.date.at(server_context_.clock.now());
  append_response(out_, response, date, connection_header, part);
  ++server_context_.statistics.responses.at(std::min(response.status / 100, 5U));
  finished_ = connection_header == ConnectionHeader::Close;
  if (!in_handler_ && on_output) on_output();
}

void Session::reject(const HttpError& why) {
  const Response response = to_response(why);
  append_response(out_, response, server_context_.date.at(server_context_.clock.now()),
                  ConnectionHeader::Close, BodyPart::Sent);
  ++server_context_.statistics.responses.at(why.status / 100);
  finished_ = true;
}

void Session::detach() noexcept {
  detached_ = true;
  on_output = nullptr;
}

}  // namespace penstock::http
