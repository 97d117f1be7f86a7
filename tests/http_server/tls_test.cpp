#include "http_server/client.hpp"
#include "http_server/running_server.hpp"
#include "servers/temp_directory.hpp"
#include "servers/test_certificates.hpp"
#include "servers/wait.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

namespace penstock::http_server {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using servers::TestCertificates;

// One request over TLS: the response and the result of the handshake.
struct Talk {
  std::string answer;
  std::string protocol;     // chosen by ALPN
  std::string certificate;  // its subject
  boost::system::error_code failed;
};

struct TlsClient {
  std::string ca;
  std::optional<TestCertificates::Pair> certificate{};
  std::string protocols = "\x02h2\x08http/1.1";
  int most_version = TLS1_3_VERSION;
};

std::string name_in(SSL* connection) {
  X509* const shown = SSL_get1_peer_certificate(connection);
  std::string name(256, '\0');
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName,
                                             name.data(), static_cast<int>(name.size()));
  X509_free(shown);
  name.resize(static_cast<std::size_t>(std::max(size, 0)));
  return name;
}

Talk talk(std::uint16_t port, const TlsClient& client) {
  asio::io_context io;
  ssl::context context(ssl::context::tls_client);
  context.load_verify_file(client.ca);
  context.set_verify_mode(ssl::verify_peer);
  SSL_CTX_set_max_proto_version(context.native_handle(), client.most_version);
  if (client.certificate) {
    context.use_certificate_chain_file(client.certificate->certificate.string());
    context.use_private_key_file(client.certificate->key.string(), ssl::context::pem);
  }
  ssl::stream<asio::ip::tcp::socket> stream(io, context);
  SSL_set_alpn_protos(
      stream.native_handle(),
      static_cast<const unsigned char*>(static_cast<const void*>(client.protocols.data())),
      static_cast<unsigned>(client.protocols.size()));
  stream.next_layer().connect({asio::ip::address_v4::loopback(), port});
  Talk result;
  stream.handshake(ssl::stream_base::client, result.failed);
  if (result.failed) return result;
  result.certificate = name_in(stream.native_handle());
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(stream.native_handle(), &protocol, &size);
  result.protocol.assign(static_cast<const char*>(static_cast<const void*>(protocol)), size);
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  asio::write(stream, asio::buffer(request), result.failed);
  if (!result.failed) asio::read(stream, asio::dynamic_buffer(result.answer), result.failed);
  if (result.failed == asio::error::eof) result.failed = {};
  return result;
}

class HttpServerTls : public testing::Test {
 protected:
  static void SetUpTestSuite() { certificates = std::make_unique<TestCertificates>(); }
  static void TearDownTestSuite() { certificates.reset(); }

  void SetUp() override { install(certificates->server()); }
  // The files that the server reads.
  void install(const TestCertificates::Pair& pair) {
    const auto over = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(pair.certificate, folder / "server.pem", over);
    std::filesystem::copy_file(pair.key, folder / "server.key", over);
  }
  [[nodiscard]] http::ServerOptions options() const {
    http::ServerOptions made = short_timeouts();
    made.http.tls = net::TlsFiles{.certificate = (folder / "server.pem").string(),
                                  .key = (folder / "server.key").string()};
    return made;
  }
  static TlsClient trusting(const std::filesystem::path& ca) { return {.ca = ca.string()}; }
  [[nodiscard]] Result<void> reload(RunningServer& server) const {
    rules::Settings settings;
    settings.http.tls = options().http.tls;
    return server.call([&] { return server.server().reload(settings); });
  }

  static inline std::unique_ptr<TestCertificates> certificates;
  servers::TempDirectory folder;
};

TEST_F(HttpServerTls, AnswersOverTlsAndChoosesHttp11) {
  RunningServer server(options());
  const Talk said = talk(server.port(), trusting(certificates->ca()));
  EXPECT_FALSE(said.failed) << said.failed.message();
  EXPECT_NE(said.answer.find("GET / 127.0.0.1{}"), std::string::npos) << said.answer;
  EXPECT_EQ(said.protocol, "http/1.1");
}

// Connects twice: whether the second server resumes the session of the first.
bool resumes(std::uint16_t first, std::uint16_t second, const std::string& ca) {
  asio::io_context io;
  ssl::context context(ssl::context::tls_client);
  context.load_verify_file(ca);
  SSL_CTX_set_session_cache_mode(context.native_handle(), SSL_SESS_CACHE_CLIENT);
  std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session(nullptr, &SSL_SESSION_free);
  bool is_resumed = false;
  for (const std::uint16_t port : {first, second}) {
    ssl::stream<asio::ip::tcp::socket> stream(io, context);
    if (session) SSL_set_session(stream.native_handle(), session.get());
    stream.next_layer().connect({asio::ip::address_v4::loopback(), port});
    stream.handshake(ssl::stream_base::client);
    is_resumed = SSL_session_reused(stream.native_handle()) == 1;
    // Tickets of TLS 1.3 arrive with the response.
    boost::system::error_code ended;
    std::string answer;
    const std::string request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    asio::write(stream, asio::buffer(request), ended);
    asio::read(stream, asio::dynamic_buffer(answer), ended);
    session.reset(SSL_get1_session(stream.native_handle()));
    stream.shutdown(ended);  // OpenSSL resumes no session that was not closed
  }
  return is_resumed;
}

TEST_F(HttpServerTls, WorkersOfOneListenerResumeEachOthersSessions) {
  http::ServerOptions one_listener = options();
  one_listener.shared.tickets = net::TicketSecret::make();
  RunningServer first(one_listener);
  RunningServer second(one_listener);
  http::ServerOptions other_listener = options();
  other_listener.shared.tickets = net::TicketSecret::make();
  RunningServer other(other_listener);
  const std::string ca = certificates->ca().string();
  EXPECT_TRUE(resumes(first.port(), second.port(), ca));
  EXPECT_TRUE(resumes(second.port(), first.port(), ca));
  EXPECT_FALSE(resumes(first.port(), other.port(), ca));
}

TEST_F(HttpServerTls, ANewClientCaEndsTheSessions) {
  http::ServerOptions plain = options();
  plain.shared.tickets = net::TicketSecret::make();
  http::ServerOptions with_ca = plain;
  with_ca.http.tls->client_ca = certificates->ca().string();
  RunningServer first(plain);
  RunningServer second(with_ca);
  EXPECT_FALSE(resumes(first.port(), second.port(), certificates->ca().string()));
}

TEST_F(HttpServerTls, RejectsOldVersionsAndOtherProtocols) {
  RunningServer server(options());
  TlsClient old = trusting(certificates->ca());
  old.most_version = TLS1_1_VERSION;
  EXPECT_TRUE(talk(server.port(), old).failed);
  TlsClient other = trusting(certificates->ca());
  other.protocols = "\x02h2";
  EXPECT_TRUE(talk(server.port(), other).failed);
  servers::wait_until("both to be counted",
                      [&] { return server.statistics().handshake_failures == 2; });
}

TEST_F(HttpServerTls, LoadsANewCertificateWithoutARestart) {
  RunningServer server(options());
  EXPECT_EQ(talk(server.port(), trusting(certificates->ca())).certificate, "server");
  install(certificates->untrusted());
  ASSERT_TRUE(reload(server));
  EXPECT_TRUE(talk(server.port(), trusting(certificates->ca())).failed);
  EXPECT_EQ(talk(server.port(), trusting(certificates->untrusted_ca())).certificate, "untrusted");
}

TEST_F(HttpServerTls, KeepsTheOldCertificateWhenTheNewOneIsBad) {
  RunningServer server(options());
  servers::write_file(folder / "server.pem", "no certificate");
  const Result<void> broken = reload(server);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().detail.find("server.pem"), std::string::npos) << broken.error().detail;
  std::filesystem::copy_file(certificates->client().certificate, folder / "server.pem",
                             std::filesystem::copy_options::overwrite_existing);
  const Result<void> mismatched = reload(server);
  ASSERT_FALSE(mismatched);
  EXPECT_NE(mismatched.error().detail.find("server.key"), std::string::npos)
      << mismatched.error().detail;
  EXPECT_FALSE(talk(server.port(), trusting(certificates->ca())).failed);
}

TEST_F(HttpServerTls, DoesNotListenWithoutItsCertificate) {
  std::filesystem::remove(folder / "server.pem");
  const RunningServer server(options());
  EXPECT_NE(server.failure().find("server.pem"), std::string::npos) << server.failure();
}

TEST_F(HttpServerTls, RequiresClientCertificates) {
  http::ServerOptions strict = options();
  strict.http.tls->client_ca = certificates->ca().string();
  RunningServer server(strict);
  TlsClient client = trusting(certificates->ca());
  EXPECT_EQ(talk(server.port(), client).answer, "");
  client.certificate = certificates->untrusted();
  EXPECT_EQ(talk(server.port(), client).answer, "");
  client.certificate = certificates->client();
  EXPECT_NE(talk(server.port(), client).answer.find("GET / 127.0.0.1{}"), std::string::npos);
}

TEST_F(HttpServerTls, AbortsAHandshakeThatTimesOut) {
  RunningServer server(options());
  Client silent(server.port());
  Client trickling(server.port());
  trickling.send("\x16\x03\x01");
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(trickling.is_closed());
  const auto phase = static_cast<std::size_t>(net::Phase::Handshake);
  EXPECT_EQ(server.statistics().timeouts.at(phase), 2U);
}

TEST_F(HttpServerTls, SurvivesClientsThatDoNotSpeakTls) {
  RunningServer server(options());
  Client plain(server.port());
  plain.get("/");
  static_cast<void>(plain.read_to_end());
  EXPECT_FALSE(talk(server.port(), trusting(certificates->ca())).failed);
}

TEST_F(HttpServerTls, StopsGracefully) {
  RunningServer server(options());
  EXPECT_FALSE(talk(server.port(), trusting(certificates->ca())).failed);
  const std::future<void> stopped = server.stop(std::chrono::seconds{10});
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
}

}  // namespace
}  // namespace penstock::http_server
