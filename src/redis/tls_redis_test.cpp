#include "redis/client.hpp"
#include "redis_client/harness.hpp"
#include "redis_client/test_server.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;
using redis_client::free_port;
using redis_client::Harness;
using redis_client::TestDirectory;
using redis_client::TestServer;

// A server with a certificate for "localhost" of a private CA.
class TlsRedis : public testing::Test {
 protected:
  void SetUp() override {
    const std::string script =
        "cd '" + directory_.file("") +
        "' && exec >/dev/null 2>&1"
        " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        " -subj /CN=ca -keyout ca.key -out ca.crt"
        " && openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        " -subj /CN=localhost -keyout server.key -out server.csr"
        " && printf 'subjectAltName=DNS:localhost' > names"
        " && openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2"
        " -extfile names -out server.crt";
    ASSERT_EQ(std::system(script.c_str()), 0);
  }
  [[nodiscard]] std::vector<std::string> arguments(const std::string& auth_clients) const {
    return {"--port",
            "0",
            "--tls-port",
            std::to_string(port_),
            "--tls-cert-file",
            directory_.file("server.crt"),
            "--tls-key-file",
            directory_.file("server.key"),
            "--tls-ca-cert-file",
            directory_.file("ca.crt"),
            "--tls-auth-clients",
            auth_clients};
  }
  [[nodiscard]] Options options() const {
    Options made = Harness::options_for("rediss://localhost:" + std::to_string(port_));
    made.tls.ca_file = directory_.file("ca.crt");
    return made;
  }

  TestDirectory directory_;
  std::uint16_t port_ = free_port();
};

TEST_F(TlsRedis, SpeaksToAServerItTrusts) {
  const TestServer server(port_, arguments("no"));
  Harness harness(options());
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
}

TEST_F(TlsRedis, ShowsItsOwnCertificate) {
  const TestServer server(port_, arguments("yes"));
  Options with = options();
  with.tls.certificate_file = directory_.file("server.crt");
  with.tls.key_file = directory_.file("server.key");
  Harness harness(std::move(with));
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
}

TEST_F(TlsRedis, RefusesAServerOfAnUnknownAuthority) {
  const TestServer server(port_, arguments("no"));
  Options without = options();
  without.tls.ca_file.clear();
  Harness harness(std::move(without));
  ASSERT_TRUE(harness.run_until([&] { return harness.has_event("TLS: certificate"); }));
  const Result<resp::Value> reply = harness.ask({"PING"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured);
}

TEST_F(TlsRedis, RefusesAServerOfAnotherName) {
  const TestServer server(port_, arguments("no"));
  Options other = options();
  other.tls.server_name = "elsewhere";
  Harness harness(std::move(other));
  EXPECT_TRUE(harness.run_until([&] { return harness.has_event("certificate of \"elsewhere\""); }));
}

TEST_F(TlsRedis, AMissingFileIsForTheOperator) {
  Options missing = options();
  missing.tls.ca_file = "/nowhere/ca.crt";
  Harness harness(std::move(missing));
  const Result<resp::Value> reply = harness.ask({"PING"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured);
  EXPECT_NE(reply.error().detail.find("/nowhere/ca.crt"), std::string::npos);
}

}  // namespace
}  // namespace penstock::redis
