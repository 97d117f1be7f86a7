#include "gateway/proxy/proxy_machine.hpp"

namespace penstock::gateway {

bool ProxyMachine::wants_body() const noexcept {
  return upload_ == Upload::Running && state_ != State::StopUpload && state_ != State::Done;
}

net::Phase ProxyMachine::upstream_phase() const noexcept {
  const bool awaits_head = state_ == State::ReadHead || state_ == State::SendInterim;
  // The response timeout starts when the request is sent.
  if (awaits_head && upload_ == Upload::Complete) return net::Phase::FirstByte;
  return state_ == State::Relay ? net::Phase::Body : net::Phase::Processing;
}

void ProxyMachine::on_rejected(ProxyError error) noexcept {
  if (state_ != State::Admit && state_ != State::AcquirePermit) return;
  error_ = error;
  state_ = State::Answer;
}

void ProxyMachine::on_denied() noexcept {
  if (state_ == State::Admit || state_ == State::CheckLimits) state_ = State::Answer;
}

void ProxyMachine::on_server(std::size_t server, Connection connection) noexcept {
  if (state_ != State::ChooseServer) return;
  server_ = server;
  is_reused_ = connection == Connection::Reused;
  state_ = is_reused_ ? State::SendHead : State::Connect;
}

ProxyMachine::Report ProxyMachine::on_no_server() noexcept {
  if (state_ != State::ChooseServer) return Report::None;
  state_ = State::Answer;
  if (error_) return Report::None;  // of the last server that was tried
  error_ = ProxyError::NoHealthyServer;
  return Report::NoHealthyServer;
}

// Nothing was sent, so another server may be tried.
ProxyMachine::Report ProxyMachine::on_connect_failed(Attempt attempt) {
  if (state_ != State::Connect) return Report::None;
  error_ = attempt.has_expired ? ProxyError::UpstreamTimeout : ProxyError::ConnectFailed;
  tried_.push_back(server_);
  state_ = State::ChooseServer;
  return Report::ServerFailed;
}

void ProxyMachine::on_head_sent(Last last, std::size_t body_bytes) noexcept {
  if (state_ != State::SendHead) return;
  error_.reset();  // of a server that was tried before
  body_started_ = body_started_ || body_bytes > 0;
  upload_ = last == Last::Yes ? Upload::Complete : Upload::Running;
  state_ = State::ReadHead;
}

// A server that did not read the whole request may have responded anyway.
ProxyMachine::Report ProxyMachine::on_send_failed(Attempt attempt) noexcept {
  if (state_ != State::SendHead) return Report::None;
  error_.reset();
  upload_ = Upload::Stopped;
  attempt_ = attempt;
  if (may_retry()) return retry();
  state_ = State::ReadHead;
  return Report::None;
}

void ProxyMachine::on_uploaded(Last last) noexcept {
  body_started_ = true;
  if (upload_ == Upload::Running && last == Last::Yes) upload_ = Upload::Complete;
}

void ProxyMachine::on_upload_refused() noexcept {
  body_started_ = true;
  on_upload_ended();
}

void ProxyMachine::on_upload_failed(ProxyError error) noexcept {
  if (wants_body()) error_ = error;
  on_upload_ended();
}

void ProxyMachine::on_upload_ended() noexcept {
  if (upload_ == Upload::Running) upload_ = Upload::Stopped;
}

void ProxyMachine::on_response_head(unsigned status) noexcept {
  if (state_ != State::ReadHead) return;
  const bool is_switch = status == 101;
  if (status / 100 == 1 && !is_switch) {
    if (++interims_ > kMaxInterimResponses) return on_malformed_response();
    state_ = State::SendInterim;
  } else if (!is_switch) {
    client_is_served_ = true;
    state_ = State::Relay;
  } else if (request_.wants_upgrade) {
    client_is_served_ = true;
    upload_ = Upload::Running;
    state_ = State::Tunnel;
  } else {
    on_malformed_response();
  }
}

void ProxyMachine::on_malformed_response() noexcept {
  if (state_ != State::ReadHead) return;
  error_ = ProxyError::MalformedResponse;
  state_ = State::StopUpload;
}

void ProxyMachine::on_response_ended(Attempt attempt) noexcept {
  if (state_ != State::ReadHead) return;
  attempt_ = attempt;
  state_ = State::StopUpload;
}

void ProxyMachine::on_relayed(Relayed relayed, AfterResponse then) noexcept {
  const bool is_whole = relayed == Relayed::Whole;
  if (state_ == State::Tunnel) {
    state_ = is_whole ? State::FinishUpload : State::StopUpload;
  } else if (state_ == State::Relay) {
    keeps_connection_ = is_whole && then == AfterResponse::KeepAlive && upload_ == Upload::Complete;
    state_ = keeps_connection_ ? State::Done : State::StopUpload;
  }
}

ProxyMachine::Report ProxyMachine::on_upload_over() noexcept {
  if (state_ != State::StopUpload && state_ != State::FinishUpload) return Report::None;
  if (client_is_served_) {
    state_ = State::Done;
    return Report::None;
  }
  if (!error_ && may_retry()) return retry();
  state_ = State::Answer;
  if (!error_) error_ = attempt_.has_expired ? ProxyError::UpstreamTimeout : ProxyError::NoResponse;
  const bool is_clients_fault =
      *error_ == ProxyError::BodyTimeout || *error_ == ProxyError::MalformedBody;
  return is_clients_fault ? Report::NoResponse : Report::ServerFailed;
}

void ProxyMachine::on_client_disconnected() noexcept {
  if (state_ == State::Done) return;
  client_is_served_ = true;
  state_ = State::StopUpload;
}

bool ProxyMachine::may_retry() const noexcept {
  return is_reused_ && !attempt_.has_received && !attempt_.has_expired && !body_started_ &&
         (!attempt_.has_written || request_.is_idempotent);
}

ProxyMachine::Report ProxyMachine::retry() noexcept {
  may_reuse_ = false;
  upload_ = Upload::NotStarted;
  state_ = State::ChooseServer;
  return Report::Retried;
}

}  // namespace penstock::gateway
