#include "grpc_server/connection.hpp"
#include "grpc_server/running_server.hpp"
#include "servers/test_certificates.hpp"

#include <boost/asio/ssl.hpp>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace penstock::grpc_server {
namespace {

namespace ssl = boost::asio::ssl;
using TlsConnection = Connection<ssl::stream<boost::asio::ip::tcp::socket>>;

struct GrpcTls : ::testing::Test {
  wire::grpc::ServerOptions options() const {
    wire::grpc::ServerOptions made;
    made.grpc.tls = {.certificate = certificates.server().certificate.string(),
                     .key = certificates.server().key.string(),
                     .client_ca = certificates.ca().string()};
    return made;
  }
  ssl::context client_context(bool shows_certificate) const {
    ssl::context context(ssl::context::tls_client);
    context.load_verify_file(certificates.ca().string());
    context.set_verify_mode(ssl::verify_peer);
    if (shows_certificate) {
      context.use_certificate_chain_file(certificates.client().certificate.string());
      context.use_private_key_file(certificates.client().key.string(), ssl::context::pem);
    }
    return context;
  }
  // The result of a call; empty without a connection.
  static std::string talk(std::uint16_t port, ssl::context& context, std::string_view protocols) {
    TlsConnection client(port, context);
    const std::string offered(protocols);
    SSL_set_alpn_protos(client.stream().native_handle(),
                        static_cast<const unsigned char*>(static_cast<const void*>(offered.data())),
                        static_cast<unsigned>(offered.size()));
    boost::system::error_code failed;
    client.stream().handshake(ssl::stream_base::client, failed);
    if (failed) return "";
    return client
        .call(grpc_calls::kShouldRateLimit,
              grpc_calls::framed(
                  grpc_calls::request_of("api", {{{"user", "a"}}}).SerializeAsString()))
        .field("grpc-status");
  }

  servers::TestCertificates certificates;
};

TEST_F(GrpcTls, ServesH2ToClientsWithACertificate) {
  RunningServer server(options());
  ssl::context known = client_context(true);
  EXPECT_EQ(talk(server.port(), known, "\x02h2"), "0");
  EXPECT_EQ(talk(server.port(), known, "\x08http/1.1"), "");
  ssl::context stranger = client_context(false);
  EXPECT_EQ(talk(server.port(), stranger, "\x02h2"), "");
  EXPECT_GE(server.statistics().handshake_failures, 1U);
}

TEST_F(GrpcTls, AnswersManyCalls) {
  RunningServer server(options());
  ssl::context context = client_context(true);
  TlsConnection client(server.port(), context);
  client.stream().handshake(ssl::stream_base::client);
  const std::string body =
      grpc_calls::framed(grpc_calls::request_of("api", {{{"user", "a"}}}).SerializeAsString());
  std::int32_t last = 0;
  for (int i = 0; i < 300; ++i) {
    last = client.session().request(grpc_calls::head_of(grpc_calls::kShouldRateLimit), body);
  }
  EXPECT_TRUE(client.wait([&] { return client.session().answer(last).is_closed; }));
  EXPECT_EQ(client.session().answer(last).field("grpc-status"), "0");
}

}  // namespace
}  // namespace penstock::grpc_server
