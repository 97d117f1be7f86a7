// The upstream side of an exchange.
#include "gateway/http1/body_encoder.hpp"
#include "gateway/http1/field_text.hpp"
#include "gateway/http1/hop_by_hop.hpp"
#include "gateway/proxy/exchange.hpp"
#include "gateway/proxy/tunnel.hpp"
#include "net/spawn.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::kIo;
using net::Phase;

// Interim responses per request: a client that does not read must not make us buffer more.
constexpr int kMaxInterimResponses = 16;

std::vector<Field> allowed_trailers(std::span<const Field> fields) {
  std::vector<Field> kept;
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(kept),
               [](const Field& field) { return !is_forbidden_trailer(field.name); });
  return kept;
}

bool has_field(std::span<const Field> fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return equals_lower_case(field.name, name); });
}

Last last_if(bool is_last) noexcept { return is_last ? Last::Yes : Last::No; }

}  // namespace

Awaitable<void> Exchange::forward(std::string head) {
  if (context_->log.is_on()) entry_.upstream = upstream_->settings().name;
  std::vector<std::size_t> tried;
  bool may_reuse = true;
  while (!client_disconnected_) {
    const auto server = upstream_->choose(base::monotonic_now(), tried);
    if (!server) {
      if (!error_) context_->metrics.rejected(RejectReason::NoHealthyServer);
      break;
    }
    const Upstream::InFlightGuard guard(upstream_, *server);
    connection_ = may_reuse ? upstream_->take_idle(*server) : nullptr;
    is_reused_ = connection_ != nullptr;
    if (!is_reused_ && !co_await connect(*server)) {
      tried.push_back(*server);
      continue;  // nothing was sent: another server may be tried
    }
    const Outcome outcome = co_await attempt(head);
    if (outcome == Outcome::Answered) co_return;
    connection_->close();
    if (outcome == Outcome::Failed) break;
    context_->metrics.retried(upstream_number_);
    may_reuse = false;
  }
  if (!client_disconnected_) {
    co_await answer(error_response(error_.value_or(ProxyError::NoHealthyServer),
                                   upstream_->settings().name, why_));
  }
}

Awaitable<bool> Exchange::connect(std::size_t server) {
  connection_ = upstream_->make_connection(server);
  const bool connected = co_await connection_->connect(upstream_->settings().servers[server]);
  if (connected || client_disconnected_) co_return connected;
  error_ = connection_->has_expired() ? ProxyError::UpstreamTimeout : ProxyError::ConnectFailed;
  upstream_->failed(server);
  context_->metrics.answered(upstream_number_, 0);
  co_return false;
}

Awaitable<Exchange::Outcome> Exchange::attempt(std::string_view head) {
  error_.reset();  // of a server that was tried before
  why_ = {};
  stopping_pump_ = false;
  written_before_ = connection_->written();
  received_before_ = connection_->read_buffer().total();
  const base::Deadline asked_at = base::monotonic_now();
  const bool sent = co_await send_request_head(head);
  if (!sent && may_retry()) co_return Outcome::Stale;
  // A server that did not read the whole request may have responded anyway.
  const std::size_t head_bytes = co_await read_head();
  if (head_bytes > 0) {
    context_->metrics.observe_latency(base::monotonic_now() - asked_at);
    co_await relay(head_bytes);
    co_return Outcome::Answered;
  }
  co_await stop_pump();
  if (client_disconnected_) co_return Outcome::Failed;
  if (!error_ && may_retry()) co_return Outcome::Stale;
  if (!error_) error_ = no_response_error();
  const bool is_clients_fault =
      *error_ == ProxyError::BodyTimeout || *error_ == ProxyError::MalformedBody;
  if (!is_clients_fault) upstream_->failed(connection_->server);
  context_->metrics.answered(upstream_number_, 0);
  co_return Outcome::Failed;
}

// The server may have closed a kept connection at the same moment. A retry is safe if nothing was
// processed or the request is idempotent.
bool Exchange::may_retry() const noexcept {
  const bool silent = connection_->read_buffer().total() == received_before_;
  const bool unsent = connection_->written() == written_before_;
  return is_reused_ && !client_disconnected_ && silent && !connection_->has_expired() &&
         !body_started_ && (unsent || is_idempotent_);
}

ProxyError Exchange::no_response_error() const noexcept {
  return connection_->has_expired() ? ProxyError::UpstreamTimeout : ProxyError::NoResponse;
}

// Sends the head and the available part of the body in one write; the rest follows in background.
Awaitable<bool> Exchange::send_request_head(std::string_view head) {
  const Downstream::BodyPiece piece = client_.body();
  BodyEncoder encoder(framing_);
  const std::vector<Field> trailers = request_trailers(piece.is_last);
  BufferSequence bytes;
  bytes.add(head);
  encoder.add(bytes, piece.data, last_if(piece.is_last), trailers);
  bool sent = connection_->write_now(bytes);
  if (sent && !bytes.is_empty()) {
    connection_->enter(Phase::Write);
    sent = co_await connection_->write(bytes);
  }
  if (!sent) co_return false;
  body_started_ = body_started_ || !piece.data.empty();
  client_.consume_body();
  request_sent_ = piece.is_last;
  if (!request_sent_) {
    pumping_ = true;
    net::spawn(event_.get_executor(), pump(shared_from_this(), connection_));
  }
  co_return true;
}

// Rules do not see trailers, so they are dropped unless the settings forward them.
std::vector<Field> Exchange::request_trailers(bool is_last) {
  if (!is_last || !context_->settings.forward_request_trailers) return {};
  std::vector<Field> fields = allowed_trailers(client_.body_trailers());
  if (context_->settings.headers_with_underscores != rules::Underscores::Allow) {
    std::erase_if(
        fields, [](const Field& field) { return field.name.find('_') != std::string_view::npos; });
  }
  return fields;
}

Trailers Exchange::may_have_trailers(const ResponseHead& head) const noexcept {
  const bool may = head.body.kind == BodyFraming::Kind::Chunked && version_ != Version::Http10;
  return may ? Trailers::Yes : Trailers::No;
}

Awaitable<void> Exchange::pump(std::shared_ptr<Exchange> self,
                               std::shared_ptr<UpstreamConnection> connection) {
  bool going = true;
  while (going && !self->client_disconnected_ && !self->stopping_pump_ && connection->is_open()) {
    const Downstream::BodyPiece piece = self->client_.body();
    if (piece.is_broken) {
      self->error_ = ProxyError::MalformedBody;
      connection->close();
    } else if (piece.data.empty() && !piece.is_last) {
      self->client_.consume_body();
      const bool more = co_await self->client_.more_body();
      if (more || self->stopping_pump_) continue;
      self->error_ = ProxyError::BodyTimeout;
      connection->close();
    } else {
      going = co_await self->pump_piece(*connection, piece);
    }
  }
  self->pumping_ = false;
  self->pump_done_.cancel();
}

// False after the last piece, or when the server stops reading: its response may say why.
Awaitable<bool> Exchange::pump_piece(UpstreamConnection& connection, Downstream::BodyPiece piece) {
  BodyEncoder encoder(framing_);
  const std::vector<Field> trailers = request_trailers(piece.is_last);
  BufferSequence bytes;
  encoder.add(bytes, piece.data, last_if(piece.is_last), trailers);
  bool sent = connection.write_now(bytes);
  if (sent && !bytes.is_empty()) {
    connection.enter(Phase::Write);
    sent = co_await connection.write(bytes);
    connection.enter(response_started_ ? Phase::Body : Phase::Processing);
  }
  body_started_ = true;
  client_.consume_body();
  if (!sent) co_return false;
  request_sent_ = piece.is_last;
  if (request_sent_ && !response_started_) enter_waiting();
  co_return !piece.is_last;
}

Awaitable<void> Exchange::stop_pump() {
  stopping_pump_ = true;
  if (!pumping_) co_return;
  connection_->close();
  client_.interrupt_body();
  while (pumping_) co_await pump_done_.async_wait(kIo);
}

// The response timeout starts when the request is sent.
void Exchange::enter_waiting() {
  connection_->enter(request_sent_ ? Phase::Header : Phase::Processing);
}

// Length of the head of the final response, skipping interim ones; 0 for none.
Awaitable<std::size_t> Exchange::read_head() {
  ReadBuffer<net::Socket>& read_buffer = connection_->read_buffer();
  for (int interims = 0; interims <= kMaxInterimResponses;) {
    const std::span<char> bytes = read_buffer.bytes();
    const auto found =
        connection_->head_reader().read({bytes.data(), bytes.size()}, request_method_);
    if (const auto* wrong = std::get_if<ResponseHeadReader::Malformed>(&found)) {
      error_ = ProxyError::MalformedResponse;
      why_ = wrong->why;
      co_return 0;
    }
    if (const auto* end = std::get_if<ResponseHeadReader::End>(&found)) {
      ResponseHead& head = connection_->head_reader().head();
      const bool is_unexpected = head.status == 101 && !wants_upgrade_;
      if (is_unexpected) error_ = ProxyError::MalformedResponse;
      if (!head.is_interim()) co_return is_unexpected ? 0 : end->bytes;
      const std::size_t size = end->bytes;
      keep_end_to_end(head, {}, Trailers::No);
      if (version_ != Version::Http10) {
        const ClientResponseHead interim = client_response_head();
        if (!co_await client_.send_interim(interim)) co_return 0;
      }
      read_buffer.consume(size);
      ++interims;
      continue;
    }
    if (!pumping_ || request_sent_) enter_waiting();
    if (!co_await connection_->more()) co_return 0;
  }
  error_ = ProxyError::MalformedResponse;
  co_return 0;
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

Awaitable<void> Exchange::relay(std::size_t head_bytes) {
  ResponseHead& head = connection_->head_reader().head();
  upstream_->answered(connection_->server);
  context_->metrics.answered(upstream_number_, head.status);
  ++context_->statistics.responses.at(head.status / 100);
  entry_.status = head.status;
  connection_->enter(Phase::Processing);
  response_started_ = true;
  const bool keeps_alive = head.keeps_alive;
  if (head.status == 101) {
    const std::shared_ptr<UpstreamConnection> connection = connection_;
    entry_.bytes = co_await switch_protocols(*client_.raw_stream(), connection, head_bytes,
                                             context_->settings.tunnel_timeout);
    co_return connection->close();
  }
  keep_end_to_end(head, rate_fields_, may_have_trailers(head));
  BodyDecoder decoder(head.body);
  const std::span<char> behind = connection_->read_buffer().bytes().subspan(head_bytes);
  const BodyDecoder::Piece piece = decoder.decode(behind);
  ClientResponseHead client_head = client_response_head();
  client_head.ours = &rate_fields_;
  entry_.bytes = piece.data.size();
  const bool is_last = decoder.is_complete();
  const std::vector<Field> trailers =
      is_last ? allowed_trailers(decoder.trailers()) : std::vector<Field>{};
  bool whole = co_await client_.send_head(client_head, piece.data, last_if(is_last), trailers);
  connection_->read_buffer().consume(head_bytes + piece.used);
  if (whole && piece.is_broken) {
    client_.abort_response();
    whole = false;
  }
  if (whole && !decoder.is_complete()) whole = co_await relay_body(decoder);
  entry_.truncated = !whole;
  if (whole && keeps_alive && request_sent_ && !pumping_) {
    upstream_->put_idle(connection_);
  } else {
    co_await stop_pump();
    connection_->close();
  }
}

Awaitable<bool> Exchange::relay_body(BodyDecoder& decoder) {
  ReadBuffer<net::Socket>& read_buffer = connection_->read_buffer();
  while (!decoder.is_complete()) {
    connection_->enter(Phase::Body);
    const bool more = co_await connection_->more();
    connection_->enter(Phase::Processing);
    if (!more && !(read_buffer.has_ended() && decoder.finish())) break;
    const BodyDecoder::Piece piece = decoder.decode(read_buffer.bytes());
    if (piece.is_broken) break;
    const bool is_last = decoder.is_complete();
    if (!piece.data.empty() || is_last) {
      const std::vector<Field> trailers =
          is_last ? allowed_trailers(decoder.trailers()) : std::vector<Field>{};
      const bool taken = co_await client_.send_body(piece.data, last_if(is_last), trailers);
      if (!taken) co_return false;
      entry_.bytes += piece.data.size();
    }
    read_buffer.consume(piece.used);
  }
  // The client must be able to detect the truncation.
  if (!decoder.is_complete()) client_.abort_response();
  co_return decoder.is_complete();
}

}  // namespace penstock::gateway
