#include "redis/connection.hpp"

#include "base/check.hpp"
#include "base/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/verify_mode.hpp>
#include <boost/asio/write.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <exception>
#include <string>
#include <utility>

namespace penstock::redis {

void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> coroutine) {
  boost::asio::co_spawn(executor, std::move(coroutine), [](const std::exception_ptr& escaped) {
    PENSTOCK_CHECK(escaped == nullptr);
  });
}
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Room for several hundred replies; more are read by the next receive.
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;
// A larger buffer is released after use.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20U;

std::string size_text(std::chrono::steady_clock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

// The peer rejects us, for instance for a missing client certificate, or does not speak TLS: the
// operator has to fix it.
bool is_tls_error(const error_code& failed) {
  const int reason = ERR_GET_REASON(static_cast<unsigned long>(failed.value()));
  return reason >= SSL_AD_REASON_OFFSET || reason == SSL_R_WRONG_VERSION_NUMBER;
}

}  // namespace

Connection::Connection(const asio::any_io_executor& executor, TlsClient tls)
    : tls_client_(std::move(tls)),
      socket_(executor),
      resolver_(executor),
      limit_(executor),
      in_(kReadBytes) {}

Error Connection::broken(ErrorCode code, const error_code& failed) const {
  if (!close_reason_.empty()) return {code, close_reason_};
  if (failed == asio::error::eof) return {code, "closed by the server"};
  if (failed.category() == asio::error::get_ssl_category()) {
    return {is_tls_error(failed) ? ErrorCode::Misconfigured : code, "TLS: " + failed.message()};
  }
  return {code, failed.message()};
}

asio::awaitable<Result<void>> Connection::open(Endpoint endpoint) {
  std::string host = endpoint.address.host;
  Result<void> connected = co_await connect_socket(std::move(endpoint));
  if (!connected || tls_client_.context == nullptr) co_return connected;
  co_return co_await start_tls(std::move(host));
}

asio::awaitable<Result<void>> Connection::connect_socket(Endpoint endpoint) {
  using Local = asio::local::stream_protocol;
  std::vector<Socket::endpoint_type> candidates;
  if (!endpoint.socket_path.empty()) {
    // The size of sockaddr_un::sun_path; Asio throws for a longer path.
    constexpr std::size_t kMaxPath = 107;
    if (endpoint.socket_path.size() > kMaxPath) {
      co_return Error{ErrorCode::Misconfigured, "the path of the socket is too long"};
    }
    candidates.emplace_back(Local::endpoint(endpoint.socket_path));
  } else {
    Result<std::vector<Tcp::endpoint>> found = co_await resolve(endpoint.address);
    if (!found) co_return found.error();
    candidates.assign(found->begin(), found->end());
  }
  error_code last = asio::error::host_not_found;
  for (const Socket::endpoint_type& candidate : candidates) {
    error_code ignored;
    socket_.close(ignored);
    if (closed_) co_return broken(ErrorCode::Unavailable, asio::error::operation_aborted);
    const auto [failed] = co_await socket_.async_connect(candidate, kIo);
    last = failed;
    if (!failed) break;
  }
  if (last || closed_) co_return broken(ErrorCode::Unavailable, last);
  if (endpoint.socket_path.empty()) {
    error_code ignored;  // optional
    socket_.set_option(Tcp::no_delay(true), ignored);
    socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  }
  co_return Result<void>();
}

asio::awaitable<Result<std::vector<asio::ip::tcp::endpoint>>> Connection::resolve(
    HostPort address) {
  error_code not_numeric;
  const asio::ip::address numeric = asio::ip::make_address(address.host, not_numeric);
  if (!not_numeric) co_return std::vector{Tcp::endpoint(numeric, address.port)};
  const std::string port = std::to_string(address.port);
  const auto [failed, found] = co_await resolver_.async_resolve(address.host, port, kIo);
  if (failed) co_return broken(ErrorCode::Unavailable, failed);
  std::vector<Tcp::endpoint> endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  co_return endpoints;
}

asio::awaitable<Result<void>> Connection::start_tls(std::string host) {
  if (!tls_client_.server_name.empty()) host = tls_client_.server_name;
  tls_.emplace(socket_, *tls_client_.context);
  error_code not_numeric;
  static_cast<void>(asio::ip::make_address(host, not_numeric));
  if (not_numeric && SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str()) != 1) {
    co_return Error{ErrorCode::Misconfigured, "TLS: \"" + host + "\" is not a valid server name"};
  }
  error_code failed;
  tls_->set_verify_callback(asio::ssl::host_name_verification(host), failed);
  if (failed) co_return broken(ErrorCode::Misconfigured, failed);
  std::tie(failed) = co_await tls_->async_handshake(asio::ssl::stream_base::client, kIo);
  if (!failed) co_return Result<void>();
  const long verified = SSL_get_verify_result(tls_->native_handle());
  if (verified != X509_V_OK) {
    // Our own name check sets no specific error.
    const std::string why = verified == X509_V_ERR_UNSPECIFIED
                                ? "it is for another host"
                                : X509_verify_cert_error_string(verified);
    co_return Error{ErrorCode::Misconfigured, "TLS: certificate of \"" + host + "\": " + why};
  }
  co_return broken(ErrorCode::Unavailable, failed);
}

asio::awaitable<Result<void>> Connection::write(std::string bytes) {
  const asio::const_buffer buffer = asio::buffer(bytes);
  error_code failed;
  std::size_t written = 0;
  if (tls_) {
    std::tie(failed, written) = co_await asio::async_write(*tls_, buffer, kIo);
  } else {
    std::tie(failed, written) = co_await asio::async_write(socket_, buffer, kIo);
  }
  if (failed) co_return broken(ErrorCode::ConnectionLost, failed);
  co_return Result<void>();
}

asio::awaitable<Result<resp::Value>> Connection::read() {
  while (true) {
    Result<std::optional<resp::Value>> reply = next();
    if (!reply) co_return reply.error();
    if (reply->has_value()) co_return **std::move(reply);
    const Result<void> received = co_await receive();
    if (!received) co_return received.error();
  }
}

asio::awaitable<Result<void>> Connection::receive() {
  const asio::mutable_buffer buffer = asio::buffer(in_);
  error_code failed;
  std::size_t size = 0;
  if (tls_) {
    std::tie(failed, size) = co_await tls_->async_read_some(buffer, kIo);
  } else {
    std::tie(failed, size) = co_await socket_.async_read_some(buffer, kIo);
  }
  if (failed || closed_) co_return broken(ErrorCode::ConnectionLost, failed);
  reader_.feed({in_.data(), size});
  co_return Result<void>();
}

void Connection::start_write(std::function<void(const error_code&)> done) {
  auto finish = [self = shared_from_this(), done = std::move(done)](const error_code& failed,
                                                                    std::size_t) {
    self->out_.clear();
    if (self->out_.capacity() > kKeptBytes) base::free_string(self->out_);
    done(failed);
  };
  const asio::const_buffer buffer = asio::buffer(out_);
  if (tls_) {
    asio::async_write(*tls_, buffer, std::move(finish));
  } else {
    asio::async_write(socket_, buffer, std::move(finish));
  }
}

void Connection::close_after(std::chrono::steady_clock::duration time) {
  limit_.expires_after(time);
  limit_.async_wait([weak = weak_from_this(), time](const error_code& failed) {
    const std::shared_ptr<Connection> self = weak.lock();
    if (!failed && self != nullptr) self->close("no reply within " + size_text(time));
  });
}

void Connection::stay_open() { limit_.cancel(); }

void Connection::close(std::string_view why) {
  if (closed_) return;
  closed_ = true;
  close_reason_ = why;
  limit_.cancel();
  resolver_.cancel();
  error_code ignored;  // nothing can be done when a close fails
  socket_.close(ignored);
}

namespace {

namespace ssl = boost::asio::ssl;

Error unusable(const std::string& what, const boost::system::error_code& why) {
  return {ErrorCode::Misconfigured, "TLS: " + what + ": " + why.message()};
}

}  // namespace

Result<std::shared_ptr<ssl::context>> make_tls_context(const TlsOptions& options) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  boost::system::error_code failed;
  context->set_options(
      ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
      failed);
  if (failed) return unusable("protocol version", failed);
  // TLS 1.2: only suites with forward secrecy and authenticated encryption. All TLS 1.3 suites have
  // both.
  if (SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
    return Error{ErrorCode::Misconfigured, "TLS: OpenSSL lacks the cipher suites that are needed"};
  }
  context->set_verify_mode(ssl::verify_peer, failed);
  if (failed) return unusable("verification", failed);
  if (options.ca_file.empty()) {
    context->set_default_verify_paths(failed);
  } else {
    context->load_verify_file(options.ca_file, failed);
  }
  if (failed) return unusable("CA file \"" + options.ca_file + "\"", failed);
  if (!options.certificate_file.empty()) {
    context->use_certificate_chain_file(options.certificate_file, failed);
    if (failed) return unusable("certificate \"" + options.certificate_file + "\"", failed);
    const std::string& key = options.key_file.empty() ? options.certificate_file : options.key_file;
    context->use_private_key_file(key, ssl::context::pem, failed);
    if (failed) return unusable("key \"" + key + "\"", failed);
  }
  return context;
}

}  // namespace penstock::redis
