#pragma once

#include "gateway/http1/body_framing.hpp"
#include "gateway/proxy/proxy_error.hpp"
#include "net/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace penstock::gateway {

// The course of one request through the gateway, without sockets: what to do next, whether a failed
// attempt is repeated, and which error the client receives.
//
//   Admit ─► AcquirePermit ─► CheckLimits ─► ChooseServer ─► Connect ─► SendHead ─► ReadHead ─►
//   Relay
//     └────────────┴───────────────┴──► Answer    ▲  └──── failed ─┘        │        │  ▲ Tunnel
//                                         ▲       └────── retry ── StopUpload ◄──────┘  └─
//                                         SendInterim └──────────── failed ────────┘
//
// The owner does what the state says and reports the result with an event. An event that arrives in
// another state than its own is late, and is ignored. The request body is uploaded at the same time
// as the response is read; its events are accepted in every state. Thread-safety: none.
class ProxyMachine {
 public:
  enum class State : std::uint8_t {
    Admit,          // find the route; limit the requests in flight on this node
    AcquirePermit,  // of the limit that all nodes share
    CheckLimits,    // of the rules
    ChooseServer,
    Connect,
    SendHead,      // of the request, with what has arrived of its body
    ReadHead,      // of the response
    SendInterim,   // an interim response to the client
    Relay,         // the response
    Tunnel,        // bytes in both directions, after 101
    FinishUpload,  // of a tunnel whose server has closed its side
    StopUpload,    // the rest of the request is not needed
    Answer,        // with error(), or with the gateway's own response if there is none
    Done,
  };

  // What an event means for the metrics and the health of the server.
  enum class Report : std::uint8_t {
    None,
    NoHealthyServer,
    ServerFailed,  // no connection, or no valid response
    NoResponse,    // because of the client
    Retried,
  };

  struct Request {
    bool is_idempotent = false;
    bool wants_upgrade = false;
  };
  // What happened on the connection to the server since the request was started on it.
  struct Attempt {
    bool has_written = false;
    bool has_received = false;
    bool has_expired = false;  // a timeout closed it
  };
  enum class Connection : std::uint8_t { None, Reused };
  enum class Relayed : std::uint8_t { Whole, Truncated };

  void start(Request request) noexcept { request_ = request; }

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const std::optional<ProxyError>& error() const noexcept { return error_; }
  // Servers that did not accept a connection.
  [[nodiscard]] const std::vector<std::size_t>& tried() const noexcept { return tried_; }
  [[nodiscard]] bool may_reuse_connection() const noexcept { return may_reuse_; }
  // The connection to the server can serve another request. REQUIRES: Done.
  [[nodiscard]] bool keeps_connection() const noexcept { return keeps_connection_; }
  [[nodiscard]] bool is_uploading() const noexcept { return upload_ == Upload::Running; }
  // Whether the server still needs the rest of the body.
  [[nodiscard]] bool wants_body() const noexcept;
  // The phase of the connection to the server while it waits for that server.
  [[nodiscard]] net::Phase upstream_phase() const noexcept;

  void on_admitted() noexcept { advance(State::Admit, State::AcquirePermit); }
  void on_permit() noexcept { advance(State::AcquirePermit, State::CheckLimits); }
  void on_allowed() noexcept { advance(State::CheckLimits, State::ChooseServer); }
  // Before a server is chosen: the client receives this error, or the gateway's own response.
  void on_rejected(ProxyError error) noexcept;
  void on_denied() noexcept;

  void on_server(std::size_t server, Connection connection) noexcept;
  [[nodiscard]] Report on_no_server() noexcept;
  void on_connected() noexcept { advance(State::Connect, State::SendHead); }
  [[nodiscard]] Report on_connect_failed(Attempt attempt);

  // `last`: the request has no body, or all of it was sent with the head.
  void on_head_sent(Last last, std::size_t body_bytes) noexcept;
  [[nodiscard]] Report on_send_failed(Attempt attempt) noexcept;
  void on_uploaded(Last last) noexcept;  // a piece of the body
  void on_upload_refused() noexcept;     // the server stops reading: its response may say why
  void on_upload_failed(ProxyError error) noexcept;  // because of the client
  void on_upload_ended() noexcept;                   // by StopUpload

  void on_response_head(unsigned status) noexcept;
  void on_interim_sent() noexcept { advance(State::SendInterim, State::ReadHead); }
  void on_malformed_response() noexcept;
  void on_response_ended(Attempt attempt) noexcept;  // before the end of its head
  void on_relayed(Relayed relayed, AfterResponse then) noexcept;
  // In StopUpload and FinishUpload. REQUIRES: !is_uploading().
  [[nodiscard]] Report on_upload_over() noexcept;
  void on_answered() noexcept { advance(State::Answer, State::Done); }
  void on_client_disconnected() noexcept;

  // Interim responses per request: a client that does not read must not make us buffer more.
  static constexpr int kMaxInterimResponses = 16;

 private:
  enum class Upload : std::uint8_t { NotStarted, Running, Complete, Stopped };

  void advance(State from, State to) noexcept {
    if (state_ == from) state_ = to;
  }
  // A retry on a new connection is safe if the server has not processed the request, or if it may
  // process it twice: it may have closed a kept connection at the same moment.
  [[nodiscard]] bool may_retry() const noexcept;
  [[nodiscard]] Report retry() noexcept;

  Request request_{};
  State state_ = State::Admit;
  Upload upload_ = Upload::NotStarted;
  std::optional<ProxyError> error_{};
  std::vector<std::size_t> tried_{};
  std::size_t server_ = 0;
  Attempt attempt_{};
  int interims_ = 0;
  bool is_reused_ = false;
  bool may_reuse_ = true;
  bool body_started_ = false;      // some of it was taken from the client
  bool client_is_served_ = false;  // it has its response, or has disconnected
  bool keeps_connection_ = false;
};

}  // namespace penstock::gateway
