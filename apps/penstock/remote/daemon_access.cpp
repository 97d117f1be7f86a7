#include "apps/penstock/remote/daemon_access.hpp"

#include "apps/command_line/arguments.hpp"
#include "core/duration_text.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

namespace penstock::app {
namespace {

constexpr std::string_view kHttpPort = "80";
constexpr std::string_view kHttpsPort = "443";

bool is_port(std::string_view text) {
  return parse_number("port", text, {.min = 1, .max = 65'535}).has_value();
}

// "name", "name:80", "[::1]" or "[::1]:80": host and port, the latter perhaps empty.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view authority) {
  std::string_view host = authority;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    rest = authority.substr(colon);
  }
  if (host.empty()) return std::nullopt;
  if (rest.empty()) return std::pair{host, rest};
  if (rest.front() != ':' || !is_port(rest.substr(1))) return std::nullopt;
  return std::pair{host, rest.substr(1)};
}

namespace asio = boost::asio;
namespace http = boost::beast::http;

// The largest response is /top with 1000 keys of maximum length.
constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20U;
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;

using Exchanged = std::variant<DaemonAnswer, boost::system::error_code>;

// REQUIRES: the stream outlives the call; call_over() owns it.
template <class Stream>
asio::awaitable<Exchanged> exchange(Stream& stream, std::string request) {
  co_await asio::async_write(stream, asio::buffer(request), asio::use_awaitable);
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxBytes);
  parser.eager(true);
  std::string received;
  while (!parser.is_done()) {
    const std::size_t kept = received.size();
    received.resize(kept + kReadBytes);
    boost::system::error_code ended;
    const std::size_t bytes =
        co_await stream.async_read_some(asio::buffer(received.data() + kept, kReadBytes),
                                        asio::redirect_error(asio::use_awaitable, ended));
    received.resize(kept + bytes);
    if (ended && (ended != asio::error::eof || !parser.got_some())) co_return ended;
    boost::system::error_code malformed;
    if (ended) {
      parser.put_eof(malformed);
    } else {
      received.erase(0, parser.put(asio::buffer(received), malformed));
    }
    if (malformed && malformed != http::error::need_more) co_return malformed;
  }
  co_return DaemonAnswer{.status = parser.get().result_int(),
                         .body = std::move(parser.get().body())};
}

// REQUIRES: `tls` outlives the call; call_daemon() owns it.
asio::awaitable<Exchanged> call_over(DaemonAddress address, asio::ssl::context& tls,
                                     std::string request) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto found =
      co_await resolver.async_resolve(address.host, address.port, asio::use_awaitable);
  asio::ip::tcp::socket socket(executor);
  co_await asio::async_connect(socket, found, asio::use_awaitable);
  if (!address.tls) {
    co_return co_await exchange(socket, std::move(request));
  }
  asio::ssl::stream<asio::ip::tcp::socket> secured(std::move(socket), tls);
  secured.set_verify_callback(asio::ssl::host_name_verification(address.host));
  boost::system::error_code not_an_address;
  asio::ip::make_address(address.host, not_an_address);
  // SNI carries names only, not addresses (RFC 6066)
  if (not_an_address) SSL_set_tlsext_host_name(secured.native_handle(), address.host.c_str());
  co_await secured.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
  co_return co_await exchange(secured, std::move(request));
}

std::string request_for(const DaemonArguments& daemon, const DaemonAddress& address,
                        const DaemonCall& call) {
  std::string request = call.method + " " + call.target +
                        " HTTP/1.1\r\nHost: " + address.authority() + "\r\nConnection: close\r\n";
  if (!daemon.token.empty()) request += "Authorization: Bearer " + daemon.token + "\r\n";
  if (!call.body.empty()) request += "Content-Type: application/json\r\n";
  if (!call.body.empty() || call.method == "POST") {
    request += "Content-Length: " + std::to_string(call.body.size()) + "\r\n";
  }
  return request + "\r\n" + call.body;
}

Error unusable_file(const char* option, const std::string& file,
                    const boost::system::error_code& failed) {
  return {ErrorCode::InvalidInput, std::string(option) + " \"" + file + "\": " + failed.message()};
}

// Loads the CA and the client certificate.
Result<void> set_up(asio::ssl::context& tls, const DaemonArguments& daemon) {
  boost::system::error_code failed;
  tls.set_verify_mode(asio::ssl::verify_peer);
  if (daemon.ca.empty()) {
    tls.set_default_verify_paths(failed);
  } else {
    tls.load_verify_file(daemon.ca, failed);
  }
  if (failed) return unusable_file("--ca", daemon.ca, failed);
  if (daemon.certificate.empty() != daemon.key.empty()) {
    return Error{ErrorCode::InvalidInput, "--cert and --key: each needs the other"};
  }
  if (daemon.certificate.empty()) return {};
  tls.use_certificate_chain_file(daemon.certificate, failed);
  if (failed) return unusable_file("--cert", daemon.certificate, failed);
  tls.use_private_key_file(daemon.key, asio::ssl::context::pem, failed);
  if (failed) return unusable_file("--key", daemon.key, failed);
  return {};
}

Error failure(const std::string& url, const boost::system::error_code& failed) {
  return {ErrorCode::Unavailable, url + ": " + failed.message()};
}

Error failure(const std::string& url, const std::exception_ptr& failed) {
  try {
    std::rethrow_exception(failed);
  } catch (const boost::system::system_error& error) {
    return failure(url, error.code());
  } catch (const std::exception& error) {
    return {ErrorCode::Unavailable, url + ": " + error.what()};
  }
}

bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char letter) { return letter >= ' ' && letter <= '~'; });
}

ErrorCode code_of(unsigned status) {
  if (status >= 500) return ErrorCode::Unavailable;
  if (status == 401 || status == 403) return ErrorCode::Misconfigured;
  return status >= 400 ? ErrorCode::InvalidInput : ErrorCode::Protocol;
}

}  // namespace

std::string DaemonAddress::authority() const {
  std::string text = is_ipv6() ? "[" + host + "]" : host;
  if (port != (tls ? kHttpsPort : kHttpPort)) text += ":" + port;
  return text;
}

Result<DaemonAddress> parse_daemon_url(std::string_view option, std::string_view url) {
  const std::string wanted = " must be http://HOST[:PORT] or https://HOST[:PORT]";
  if (url.find('@') != std::string_view::npos) {
    return Error{ErrorCode::InvalidInput,
                 std::string(option) + wanted + ", without user and password"};
  }
  const Error wrong{ErrorCode::InvalidInput,
                    std::string(option) + " \"" + std::string(url) + "\"" + wanted};
  const bool tls = url.starts_with("https://");
  if (!tls && !url.starts_with("http://")) return wrong;
  std::string_view authority = url.substr(url.find("//") + 2);
  if (authority.ends_with('/')) authority.remove_suffix(1);
  for (const char letter : authority) {
    if (static_cast<unsigned char>(letter) <= ' ' || letter == '/' || letter == '?' ||
        letter == '#') {
      return wrong;
    }
  }
  const auto parts = split(authority);
  if (!parts) return wrong;
  const std::string_view usual = tls ? kHttpsPort : kHttpPort;
  return DaemonAddress{.tls = tls,
                       .host = std::string(parts->first),
                       .port = std::string(parts->second.empty() ? usual : parts->second)};
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~";
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') ||
                       kPlain.find(letter) != std::string_view::npos;
    if (plain) {
      encoded += letter;
    } else {
      encoded += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return encoded;
}

const char* const kDaemonHelp =
    "The token of a daemon (server.token of its configuration) is needed for changes, unless it\n"
    "listens on this machine only; put it into the environment variable PENSTOCK_TOKEN.";

void add_daemon_options(CLI::App& command, DaemonArguments& arguments) {
  command.add_option("--server", arguments.url, "A running daemon, such as http://127.0.0.1:8080")
      ->type_name("URL")
      ->envname(kServerVariable);
  command
      .add_option("--token", arguments.token,
                  "Bearer token of the daemon; better in the environment")
      ->type_name("TEXT")
      ->envname(kTokenVariable);
}

Result<DaemonAnswer> call_daemon(const DaemonArguments& daemon, const DaemonCall& call) {
  const Result<DaemonAddress> address = parse_daemon_url(daemon.option, daemon.url);
  if (!address) return address.error();
  const Result<Duration> timeout = parse_duration(
      "--timeout", daemon.timeout, std::chrono::milliseconds{1}, std::chrono::hours{1});
  if (!timeout) return timeout.error();
  if (!is_printable(daemon.token)) {
    return Error{ErrorCode::InvalidInput, "--token: expected printable ASCII characters"};
  }
  asio::ssl::context tls(asio::ssl::context::tls_client);
  if (address->tls) {
    const Result<void> ready = set_up(tls, daemon);
    if (!ready) return ready.error();
  }
  std::optional<Result<DaemonAnswer>> answer;
  asio::io_context context{1};
  asio::co_spawn(context, call_over(*address, tls, request_for(daemon, *address, call)),
                 [&](const std::exception_ptr& failed, Exchanged received) {
                   if (failed != nullptr) {
                     answer.emplace(failure(daemon.url, failed));
                   } else if (const auto* error = std::get_if<1>(&received)) {
                     answer.emplace(failure(daemon.url, *error));
                   } else {
                     answer.emplace(std::get<0>(std::move(received)));
                   }
                 });
  context.run_for(*timeout);
  if (!answer) {
    return Error{ErrorCode::Timeout,
                 daemon.url + ": no answer within " + core::exact_text(*timeout) + " (--timeout)"};
  }
  return *std::move(answer);
}

Error error_from(const DaemonAnswer& answer) {
  const ErrorCode code = code_of(answer.status);
  const std::string hint = answer.status == 401 || answer.status == 403 ? " (--token)" : "";
  const auto problem = nlohmann::json::parse(answer.body, nullptr, false);
  for (const char* member : {"detail", "title"}) {
    if (problem.is_object() && problem.contains(member) && problem[member].is_string()) {
      return {code, problem[member].get<std::string>() + hint};
    }
  }
  return {code, "the daemon answered " + std::to_string(answer.status) + ", and not as expected"};
}

}  // namespace penstock::app
