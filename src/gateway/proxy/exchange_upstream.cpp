// The upstream side of an exchange.
#include "gateway/http1/fields.hpp"
#include "gateway/http1/message_writer.hpp"
#include "gateway/proxy/exchange.hpp"
#include "net/asio_types.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::Phase;

std::vector<Field> allowed_trailers(std::span<const Field> fields) {
  std::vector<Field> kept;
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(kept),
               [](const Field& field) { return !is_forbidden_trailer(field.name); });
  return kept;
}

std::vector<Field> response_trailers(const BodyDecoder& decoder) {
  return decoder.is_complete() ? allowed_trailers(decoder.trailers()) : std::vector<Field>{};
}

bool has_field(std::span<const Field> fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return equals_lower_case(field.name, name); });
}

Last last_if(bool is_last) noexcept { return is_last ? Last::Yes : Last::No; }

}  // namespace

void Exchange::choose_server() {
  release_server();
  const auto server = upstream_->choose(base::monotonic_now(), machine_.tried());
  if (!server) return report(machine_.on_no_server());
  in_flight_ = Upstream::InFlightGuard(upstream_, *server);
  if (machine_.may_reuse_connection()) connection_ = upstream_->take_idle(*server);
  using Connection = ProxyMachine::Connection;
  machine_.on_server(*server, connection_ == nullptr ? Connection::None : Connection::Reused);
  if (connection_ == nullptr) connection_ = upstream_->make_connection(*server);
}

void Exchange::release_server() {
  if (connection_ != nullptr) std::exchange(connection_, nullptr)->close();
  in_flight_ = Upstream::InFlightGuard();
}

void Exchange::report(Report report) {
  switch (report) {
    case Report::None: return;
    case Report::NoHealthyServer: return config_->metrics.rejected(RejectReason::NoHealthyServer);
    case Report::Retried: return config_->metrics.retried(upstream_number_);
    case Report::ServerFailed: upstream_->failed(connection_->server); [[fallthrough]];
    case Report::NoResponse: config_->metrics.answered(upstream_number_, 0);
  }
}

Awaitable<void> Exchange::connect() {
  const bool connected =
      co_await connection_->connect(upstream_->settings().servers[connection_->server]);
  if (connected) {
    machine_.on_connected();
  } else {
    report(machine_.on_connect_failed({.has_expired = connection_->has_expired()}));
  }
}

ProxyMachine::Attempt Exchange::attempt() const noexcept {
  return {.has_written = connection_->written() != written_before_,
          .has_received = connection_->read_buffer().total() != received_before_,
          .has_expired = connection_->has_expired()};
}

// Sends the head and the available part of the body in one write; the rest follows in background.
Awaitable<void> Exchange::send_head(std::string_view head) {
  why_ = {};
  written_before_ = connection_->written();
  received_before_ = connection_->read_buffer().total();
  asked_at_ = base::monotonic_now();
  const Downstream::BodyPiece piece = client_.body();
  const Last last = last_if(piece.is_last);
  BodyEncoder encoder(framing_);
  const std::vector<Field> trailers = request_trailers(last);
  BufferSequence bytes;
  bytes.add(head);
  encoder.add(bytes, piece.data, last, trailers);
  bool sent = connection_->write_now(bytes);
  if (sent && !bytes.is_empty()) {
    connection_->enter(Phase::Write);
    sent = co_await connection_->write(bytes);
  }
  if (!sent) co_return report(machine_.on_send_failed(attempt()));
  machine_.on_head_sent(last, piece.data.size());
  client_.consume_body();
  if (!machine_.is_uploading()) co_return;
  net::spawn(event_.get_executor(), upload(shared_from_this(), connection_));
}

// Rules do not see trailers, so they are dropped unless the settings forward them.
std::vector<Field> Exchange::request_trailers(Last last) {
  if (last == Last::No || !config_->settings.forward_request_trailers) return {};
  std::vector<Field> fields = allowed_trailers(client_.body_trailers());
  if (config_->settings.headers_with_underscores != rules::Underscores::Allow) {
    std::erase_if(
        fields, [](const Field& field) { return field.name.find('_') != std::string_view::npos; });
  }
  return fields;
}

Awaitable<void> Exchange::upload(std::shared_ptr<Exchange> self,
                                 std::shared_ptr<UpstreamConnection> connection) {
  ProxyMachine& machine = self->machine_;
  while (machine.wants_body() && connection->is_open()) {
    const Downstream::BodyPiece piece = self->client_.body();
    if (piece.is_broken) {
      machine.on_upload_failed(ProxyError::MalformedBody);
      connection->close();
    } else if (!piece.data.empty() || piece.is_last) {
      co_await self->upload_piece(*connection, piece);
    } else {
      self->client_.consume_body();
      const bool more = co_await self->client_.more_body();
      if (more || !machine.wants_body()) continue;
      machine.on_upload_failed(ProxyError::BodyTimeout);
      connection->close();
    }
  }
  machine.on_upload_ended();
  self->event_.cancel();
}

Awaitable<void> Exchange::upload_piece(UpstreamConnection& connection,
                                       Downstream::BodyPiece piece) {
  const Last last = last_if(piece.is_last);
  BodyEncoder encoder(framing_);
  const std::vector<Field> trailers = request_trailers(last);
  BufferSequence bytes;
  encoder.add(bytes, piece.data, last, trailers);
  bool sent = connection.write_now(bytes);
  const bool waits = sent && !bytes.is_empty();
  if (waits) {
    if (!silence_) connection.enter(Phase::Write);  // tunnels have their own timeout
    sent = co_await connection.write(bytes);
  }
  client_.consume_body();
  if (silence_) last_byte_ = base::monotonic_now();
  sent ? machine_.on_uploaded(last) : machine_.on_upload_refused();
  const Phase phase = machine_.upstream_phase();
  if (waits || phase == Phase::FirstByte) connection.enter(phase);
  if (silence_ && piece.is_last) connection.end_sending();
}

void Exchange::stop_upload() {
  if (!machine_.is_uploading()) return;
  connection_->close();
  client_.interrupt_body();
}

bool Exchange::read_head() {
  const std::span<char> bytes = connection_->read_buffer().bytes();
  const auto found = connection_->head_reader().read({bytes.data(), bytes.size()}, request_method_);
  if (const auto* wrong = std::get_if<ResponseHeadReader::Malformed>(&found)) {
    why_ = wrong->why;
    machine_.on_malformed_response();
  } else if (const auto* end = std::get_if<ResponseHeadReader::End>(&found)) {
    head_bytes_ = end->bytes;
    on_response_head();
  } else {
    if (!machine_.is_uploading()) connection_->enter(machine_.upstream_phase());
    return false;
  }
  return true;
}

void Exchange::on_response_head() {
  const unsigned status = connection_->head_reader().head().status;
  machine_.on_response_head(status);
  if (machine_.state() != State::Relay && machine_.state() != State::Tunnel) return;
  upstream_->answered(connection_->server);
  config_->metrics.observe_latency(base::monotonic_now() - asked_at_);
  config_->metrics.answered(upstream_number_, status);
  ++context_->statistics.responses.at(status / 100);
  entry_.status = status;
  connection_->enter(Phase::Processing);
}

ClientResponseHead Exchange::client_response_head() {
  const ResponseHead& head = connection_->head_reader().head();
  return {.status = head.status,
          .reason = head.reason,
          .fields = head.fields,
          .body = head.body,
          .has_length = has_field(head.fields, "content-length"),
          .has_date = has_field(head.fields, "date")};
}

SendResult Exchange::send_interim() {
  keep_end_to_end(connection_->head_reader().head(), {}, Trailers::No);
  const SendResult result =
      version_ == Version::Http10 ? SendResult::Sent : client_.send_interim(client_response_head());
  connection_->read_buffer().consume(head_bytes_);
  return result;
}

Awaitable<void> Exchange::relay() {
  ResponseHead& head = connection_->head_reader().head();
  const AfterResponse then = head.keeps_alive ? AfterResponse::KeepAlive : AfterResponse::Close;
  const bool may_have_trailers =
      head.body.kind == BodyFraming::Kind::Chunked && version_ != Version::Http10;
  keep_end_to_end(head, rate_fields_, may_have_trailers ? Trailers::Yes : Trailers::No);
  ClientResponseHead client_head = client_response_head();
  client_head.ours = &rate_fields_;
  BodyDecoder decoder(head.body);
  const std::span<char> behind = connection_->read_buffer().bytes().subspan(head_bytes_);
  const BodyDecoder::Piece piece = decoder.decode(behind);
  const Last last = last_if(decoder.is_complete());
  const std::vector<Field> trailers = response_trailers(decoder);
  const SendResult result = client_.send_head(client_head, piece.data, last, trailers);
  bool whole = result == SendResult::Sent;
  if (result == SendResult::Pending) {
    whole = co_await client_.sent();
  }
  entry_.bytes = piece.data.size();
  connection_->read_buffer().consume(head_bytes_ + piece.used);
  if (whole && last == Last::No) {
    whole = co_await relay_body(decoder);
  }
  entry_.truncated = !whole;
  using Relayed = ProxyMachine::Relayed;
  machine_.on_relayed(whole ? Relayed::Whole : Relayed::Truncated, then);
}

Awaitable<bool> Exchange::relay_body(BodyDecoder& decoder) {
  ReadBuffer& read_buffer = connection_->read_buffer();
  while (true) {
    const BodyDecoder::Piece piece = decoder.decode(read_buffer.bytes());
    if (piece.is_broken) break;
    const Last last = last_if(decoder.is_complete());
    if (!piece.data.empty() || last == Last::Yes) {
      const std::vector<Field> trailers = response_trailers(decoder);
      const SendResult result = client_.send_body(piece.data, last, trailers);
      bool taken = result == SendResult::Sent;
      if (result == SendResult::Pending) {
        taken = co_await client_.sent();
      }
      if (!taken) co_return false;
      entry_.bytes += piece.data.size();
    }
    read_buffer.consume(piece.used);
    if (last == Last::Yes) co_return true;
    connection_->enter(machine_.upstream_phase());
    const bool more = co_await connection_->more();
    connection_->enter(Phase::Processing);
    if (silence_) last_byte_ = base::monotonic_now();
    if (!more && !(read_buffer.has_ended() && decoder.finish())) break;
  }
  // The client must be able to detect the truncation.
  client_.abort_response();
  co_return false;
}

// Relays bytes both ways until both sides have closed, one fails, or no byte arrives for the
// timeout of tunnels.
Awaitable<void> Exchange::tunnel() {
  framing_ = BodyFraming::Kind::UntilClose;
  last_byte_ = base::monotonic_now();
  silence_.emplace(event_.get_executor());
  close_when_silent();
  ReadBuffer& read_buffer = connection_->read_buffer();
  const SendResult result = client_.switch_protocols({read_buffer.bytes().data(), head_bytes_});
  net::spawn(event_.get_executor(), upload(shared_from_this(), connection_));
  bool open = result == SendResult::Sent;
  if (result == SendResult::Pending) {
    open = co_await client_.sent();
  }
  read_buffer.consume(head_bytes_);
  BodyDecoder decoder({.kind = BodyFraming::Kind::UntilClose});
  if (open) {
    open = co_await relay_body(decoder);
  }
  using Relayed = ProxyMachine::Relayed;
  machine_.on_relayed(open ? Relayed::Whole : Relayed::Truncated, AfterResponse::Close);
}

// Checks again at the earliest time the timeout can expire.
void Exchange::close_when_silent() {
  silence_->expires_at(last_byte_ + config_->settings.tunnel_timeout);
  silence_->async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (cancelled || self->machine_.state() == State::Done) return;
    const base::Deadline due = self->last_byte_ + self->config_->settings.tunnel_timeout;
    if (base::monotonic_now() < due) return self->close_when_silent();
    self->connection_->close();
    self->client_.abort_response();
  });
}

}  // namespace penstock::gateway
