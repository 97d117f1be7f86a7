#pragma once

#include "http/message.hpp"
#include "http/response_text.hpp"
#include "net/server_state.hpp"
#include "net/session.hpp"
#include "penstock/clock.hpp"
#include "penstock/time.hpp"
#include "wire/http/server/request_reader.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock::http {

// What the sessions of a server share. They keep it alive, but not the handler, which is not called
// after the server is destroyed.
struct ServerContext : net::ServerState {
  ServerContext(Handler& request_handler, const Clock& date_clock, ReaderLimits reader_limits = {},
                Duration timeout = std::chrono::seconds{1}, net::Timeouts::Durations phases = {})
      : ServerState(phases),
        handler(request_handler),
        clock(date_clock),
        limits(reader_limits),
        request_timeout(timeout) {}

  Handler& handler;
  const Clock& clock;
  ReaderLimits limits;
  Duration request_timeout;
  DateHeader date{};
};

// HTTP/1.1 without the I/O (net::Session): reads requests, calls the handler, writes responses in
// order. Responses that are given at once are collected, so that pipelined requests are answered in
// one write. It reads no request while one is being processed.
//
// When the server drains, the next response tells the client to close. When it stops, the session
// ends after the request in flight, or after the first if there was none yet.
// Ownership: shared with the pending response, because the request lives in here until then.
// Thread-safety: none.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Step = net::Step;

  // `server_context` outlives the session, or is not used after detach().
  Session(ServerContext& server_context, net::Peer peer);

  [[nodiscard]] Step advance();
  [[nodiscard]] RequestReader& reader() noexcept { return reader_; }
  [[nodiscard]] std::span<char> prepare() { return reader_.prepare(); }
  void commit(std::size_t bytes) noexcept { reader_.commit(bytes); }
  [[nodiscard]] std::string_view take_output();
  [[nodiscard]] bool is_done() const noexcept { return finished_ && out_.empty(); }
  [[nodiscard]] net::Activity activity() const noexcept;
  [[nodiscard]] net::TimeoutAction on_timeout(net::Phase phase);
  [[nodiscard]] bool closes_silently() const noexcept { return !awaiting_response_; }
  void reload() noexcept { reader_.set_limits(server_context_.limits); }

  // Responds with this error, and ends.
  void reject(const HttpError& why);
  void detach() noexcept;

  std::function<void()> on_output;  // not called for responses that come at once

 private:
  void dispatch();
  void answer(const Response& response);

  ServerContext& server_context_;
  net::Peer peer_;
  RequestReader reader_;
  std::string out_;
  std::string sending_;
  bool in_handler_ = false;  // within the call of the handler
  bool awaiting_response_ = false;
  bool finished_ = false;  // the last response is in out_ or sent
  bool detached_ = false;
};

}  // namespace penstock::http
