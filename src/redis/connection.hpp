#pragma once

#include "penstock/result.hpp"
#include "redis/options.hpp"
#include "redis/url.hpp"
#include "resp/reply_reader.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis {

// Coroutines receive the result of an operation as a tuple, its error first.
inline constexpr auto kIo = boost::asio::as_tuple(boost::asio::use_awaitable);

// Runs a detached coroutine. It handles its own errors; an escaping exception is a bug and ends the
// process.
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> coroutine);

// TLS settings of a connection. Without a context it uses no TLS.
struct TlsClient {
  std::shared_ptr<boost::asio::ssl::context> context{};
  std::string server_name{};  // for SNI and verification; the host when empty
};

// One connection to a server, over TCP, TLS or a Unix socket: bytes out, replies in. It knows
// nothing of commands. Opened once; each attempt is a new Connection.
//
// Errors: Unavailable (could not be opened), Misconfigured (certificate), ConnectionLost, Protocol.
// Thread-safety: none. Callers that await a member function keep a shared_ptr until it completes.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(const boost::asio::any_io_executor& executor, TlsClient tls);

  [[nodiscard]] boost::asio::awaitable<Result<void>> open(Endpoint endpoint);

  // Sequential exchange, for handshakes.
  [[nodiscard]] boost::asio::awaitable<Result<void>> write(std::string bytes);
  [[nodiscard]] boost::asio::awaitable<Result<resp::Value>> read();

  // For pipelined traffic: waits for bytes; next() then returns their replies.
  [[nodiscard]] boost::asio::awaitable<Result<void>> receive();
  [[nodiscard]] Result<std::optional<resp::Value>> next() { return reader_.next(); }
  // Fill out(), then start. REQUIRES: the previous write is complete.
  [[nodiscard]] std::string& out() noexcept { return out_; }
  void start_write(std::function<void(const boost::system::error_code&)> done);

  // Closes the connection after this time, unless stay_open() is called before.
  void close_after(std::chrono::steady_clock::duration time);
  void stay_open();
  // Operations in flight fail soon, not from within this call, with an error that contains `why`.
  void close(std::string_view why);

 private:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Tcp = boost::asio::ip::tcp;

  [[nodiscard]] boost::asio::awaitable<Result<void>> connect_socket(Endpoint endpoint);
  [[nodiscard]] boost::asio::awaitable<Result<std::vector<Tcp::endpoint>>> resolve(
      HostPort address);
  [[nodiscard]] boost::asio::awaitable<Result<void>> start_tls(std::string host);
  [[nodiscard]] Error broken(ErrorCode code, const boost::system::error_code& failed) const;

  TlsClient tls_client_;
  Socket socket_;
  Tcp::resolver resolver_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
  boost::asio::steady_timer limit_;
  resp::ReplyReader reader_;
  std::vector<char> in_;
  std::string out_;
  std::string close_reason_;
  bool closed_ = false;
};

// The TLS context of all connections of a client: TLS 1.2 or later, server certificates verified.
// An unreadable file is Misconfigured.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const TlsOptions& options);

}  // namespace penstock::redis
