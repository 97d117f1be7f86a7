#include "gateway/http2/http2_session.hpp"

#include "base/deadline.hpp"
#include "net/asio_types.hpp"

#include <algorithm>
#include <utility>

namespace penstock::gateway {
namespace {

using net::Phase;

// Output that all streams share while it waits for the socket.
constexpr std::size_t kMaxOutput = std::size_t{64} << 10U;
// For a client to read a response that came before its body has arrived.
constexpr std::chrono::seconds kLinger{1};
// Each request may cost a connection to an upstream, so resets are more expensive here.
constexpr std::uint32_t kFloodBurst = 1'000;
constexpr std::uint32_t kFloodRate = 100;

http2::SessionOptions session_options(const rules::GatewaySettings& settings) {
  return {.max_streams = static_cast<std::uint32_t>(settings.max_streams),
          .max_header_bytes = settings.max_header_bytes,
          .max_output = kMaxOutput,
          .flow_control = http2::FlowControl::Manual,
          .flood_burst = kFloodBurst,
          .flood_rate = kFloodRate,
          .linger = kLinger};
}

}  // namespace

// The response to a request that is not forwarded.
class Http2Session::Rejection final : public http2::StreamEvents, public http2::BodySource {
 public:
  Rejection(Http2ConnectionHandle& handle, http2::StreamId id, std::string body)
      : handle_(handle), id_(id), body_(std::move(body)) {}

  void on_data(std::string_view bytes) override { handle_.session.consume(id_, bytes.size()); }
  void on_end() override {}
  void on_closed(http2::ErrorCode /*why*/) override { handle_.closed.push_back(id_); }

  [[nodiscard]] Portion read(std::span<char> room) override {
    const std::size_t size = std::min(room.size(), body_.size() - sent_);
    std::copy_n(body_.data() + sent_, size, room.data());
    sent_ += size;
    return {.size = size, .after = sent_ < body_.size() ? After::More : After::End};
  }

 private:
  Http2ConnectionHandle& handle_;
  http2::StreamId id_;
  std::string body_;
  std::size_t sent_ = 0;
};

Http2Session::Http2Session(std::shared_ptr<GatewayContext> context, const net::Executor& executor,
                           std::string peer, Origin origin)
    : context_(std::move(context)),
      linger_(executor),
      peer_(std::move(peer)),
      origin_(origin),
      session_(*this, session_options(context_->config->settings)),
      handle_{.session = session_, .schedule_flush = [this] { wake(); }},
      download_(context_->config->settings.min_download_rate,
                context_->config->settings.write_timeout) {}

Http2Session::~Http2Session() { detach(); }

void Http2Session::reload() {
  const rules::GatewaySettings& settings = context_->config->settings;
  origin_.trust = context_->config->trust_in(peer_);
  download_ = {settings.min_download_rate, settings.write_timeout};
}

void Http2Session::receive(std::string_view bytes) {
  must_flush_ = true;
  receiving_ = true;
  // After a protocol violation is_finished() is true.
  static_cast<void>(session_.receive(bytes, base::monotonic_now()));
  receiving_ = false;
}

net::Step Http2Session::advance() {
  if (std::exchange(must_flush_, false)) return net::Step::Write;
  return is_done() ? net::Step::Close : net::Step::Read;
}

http2::StreamEvents* Http2Session::on_request(http2::StreamId id, const http2::RequestHead& head) {
  if (const auto defect =
          Http2Request::find_defect(head, context_->config->settings.max_header_bytes)) {
    return reject(id, head.method, *defect);
  }
  const net::Executor executor = linger_.get_executor();
  auto stream = std::make_shared<Http2Stream>(context_, handle_, id, Http2Request(head), executor);
  streams_[id] = stream;
  net::spawn(executor, Http2Stream::serve(stream, origin_, peer_));
  return stream.get();
}

http2::StreamEvents* Http2Session::reject(http2::StreamId id, std::string_view method,
                                          const HttpError& why) {
  ++context_->statistics.responses.at(why.status / 100);
  const http::Response response = to_response(why);
  const ClientResponseHead head{
      .status = response.status,
      .ours = &response.fields,
      .body = {.kind = BodyFraming::Kind::Length, .length = response.body.size()}};
  std::string texts;
  const std::vector<http2::Field> fields = http2_fields(head, texts, {});
  rejections_[id] = std::make_unique<Rejection>(handle_, id, response.body);
  Rejection* const rejection = rejections_[id].get();
  session_.respond(id, fields, method == "HEAD" ? nullptr : rejection);
  return rejection;
}

std::string_view Http2Session::take_output() {
  end_lingering();
  return session_.take_output();
}

void Http2Session::end_lingering() {
  const base::Deadline due = session_.end_lingering(base::monotonic_now());
  if (due == base::Deadline::max() || std::exchange(is_linger_awaited_, true)) return;
  linger_.expires_at(due);
  linger_.async_wait([self = shared_from_this()](const boost::system::error_code& /*cancelled*/) {
    self->is_linger_awaited_ = false;
    self->wake();
  });
}

bool Http2Session::on_sent(std::chrono::nanoseconds waited, std::size_t bytes) noexcept {
  download_.waited(waited, bytes);
  return !download_.is_too_slow();
}

// Only a request ends the idle time: pings, settings and unknown frames do not.
net::Activity Http2Session::activity() {
  for (const http2::StreamId id : std::exchange(handle_.closed, {})) {
    streams_.erase(id);
    rejections_.erase(id);
  }
  const bool has_head = session_.is_established() && !session_.is_reading_head();
  if (has_head && session_.open_streams() == 0) return {Phase::Idle, session_.requests()};
  if (has_head && !streams_.empty()) return {Phase::Processing, ++turns_};
  return {Phase::Header, 0};
}

net::TimeoutAction Http2Session::on_timeout(Phase phase) {
  if (phase == Phase::Idle) session_.terminate(http2::ErrorCode::NoError);
  return net::TimeoutAction::Abort;
}

void Http2Session::wake() const {
  if (!receiving_ && on_output) on_output();
}

void Http2Session::drain() {
  is_drained_ = true;
  session_.begin_shutdown();
  wake();
}

void Http2Session::close_when_idle() {
  is_drained_ ? session_.end_shutdown() : session_.begin_shutdown();
  wake();
}

void Http2Session::detach() {
  on_output = nullptr;
  linger_.cancel();
  for (const auto& [id, stream] : std::exchange(streams_, {})) stream->abandon();
}

}  // namespace penstock::gateway
