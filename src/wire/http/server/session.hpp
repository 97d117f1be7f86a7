#pragma once

#include "http/date_header.hpp"
#include "http/message.hpp"
#include "http/response_text.hpp"
#include "net/connection.hpp"
#include "net/statistics.hpp"
#include "penstock/clock.hpp"
#include "penstock/time.hpp"
#include "wire/http/server/request_reader.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::http {

// What the connections of a server have in common.
struct ServerContext {
  Handler& handler;
  const Clock& clock;
  net::Statistics& statistics;
  ReaderLimits limits{};
  Duration request_timeout{};
  DateHeader date{};
};

// Everything a connection does but the I/O: reads requests, asks the handler, writes answers in
// order. advance() says what the connection has to do next:
//
//   Read   fill reader().prepare(), commit(), and advance() again
//   Write  send all of take_output(), and advance() again
//   Wait   until on_answer is called, and advance() again
//   Close  the last answer is sent
//
// Answers that are given at once are collected, so that pipelined requests leave in one write.
// Ownership: shared with the answer that is awaited, because the request lives in here until then.
// Thread-safety: none.
class Session : public std::enable_shared_from_this<Session> {
 public:
  enum class Step : std::uint8_t { Read, Write, Wait, Close };

  // `server_context` outlives the session, or its end as detach() tells it.
  Session(ServerContext& server_context, net::Peer peer);

  [[nodiscard]] Step advance();
  [[nodiscard]] RequestReader& reader() noexcept { return reader_; }
  // Valid until the next advance(); an answer that comes meanwhile does no harm.
  [[nodiscard]] std::string_view take_output();

  // Answers by itself and ends.
  void reject(const HttpError& why);
  // Asks the client not to send more requests on this connection: the next answer says so.
  void drain() noexcept { draining_ = true; }
  // Ends after the request in flight, or the first if there was none yet.
  void close_when_idle() noexcept { close_when_idle_ = true; }
  // Nobody is there to answer to: a late answer goes nowhere.
  void detach() noexcept;

  std::function<void()> on_answer;  // not called for answers that come at once

 private:
  void dispatch();
  void answer(const Response& response);

  ServerContext& server_context_;
  net::Peer peer_;
  RequestReader reader_;
  std::string out_;
  std::string sending_;
  bool in_handler_ = false;         // within the call of the handler
  bool awaiting_response_ = false;  // an answer
  bool draining_ = false;
  bool close_when_idle_ = false;
  bool finished_ = false;  // the last answer is in out_ or gone
  bool detached_ = false;
};

}  // namespace penstock::http
