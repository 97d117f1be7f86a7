#include "redis/client.hpp"
#include "redis_client/harness.hpp"
#include "servers/redis_server.hpp"
#include "servers/test_certificates.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using redis_client::Harness;
using servers::ClientCertificates;
using servers::RedisServer;

// Servers with a certificate of a private CA.
class TlsRedis : public testing::Test {
 protected:
  [[nodiscard]] RedisServer server(
      ClientCertificates clients = ClientCertificates::NotAsked) const {
    return RedisServer({.tls = servers::ServerTls{.ca = certificates_.ca(),
                                                  .certificate = certificates_.server().certificate,
                                                  .key = certificates_.server().key,
                                                  .clients = clients}});
  }
  [[nodiscard]] Options options(const std::string& url) const {
    Options made = Harness::options_for(url);
    made.tls.ca_file = certificates_.ca();
    return made;
  }

  servers::TestCertificates certificates_;
};

TEST_F(TlsRedis, ConnectsToATrustedServer) {
  const RedisServer trusted = server();
  Harness harness(options(trusted.url()));
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
}

TEST_F(TlsRedis, PresentsItsClientCertificate) {
  const RedisServer asking = server(ClientCertificates::Required);
  Options with = options(asking.url());
  with.tls.certificate_file = certificates_.client().certificate;
  with.tls.key_file = certificates_.client().key;
  Harness harness(std::move(with));
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
}

TEST_F(TlsRedis, RejectsAServerOfAnUnknownCa) {
  const RedisServer unknown = server();
  Options without = options(unknown.url());
  without.tls.ca_file.clear();
  Harness harness(std::move(without));
  ASSERT_TRUE(harness.run_until([&] { return harness.has_event("TLS: certificate"); }));
  const Result<resp::Value> reply = harness.ask({"PING"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured);
}

TEST_F(TlsRedis, RejectsACertificateForAnotherName) {
  const RedisServer elsewhere = server();
  Options other = options(elsewhere.url());
  other.tls.server_name = "elsewhere";
  Harness harness(std::move(other));
  EXPECT_TRUE(harness.run_until([&] { return harness.has_event("certificate of \"elsewhere\""); }));
}

TEST_F(TlsRedis, AMissingFileIsMisconfigured) {
  Options missing = options("rediss://localhost");
  missing.tls.ca_file = "/nowhere/ca.crt";
  Harness harness(std::move(missing));
  const Result<resp::Value> reply = harness.ask({"PING"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured);
  EXPECT_NE(reply.error().detail.find("/nowhere/ca.crt"), std::string::npos);
}

}  // namespace
}  // namespace penstock::redis
