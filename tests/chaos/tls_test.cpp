#include "chaos/workers.hpp"
#include "servers/redis_server.hpp"
#include "servers/test_certificates.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::ClientCertificates;
using servers::RedisServer;
using servers::ServerTls;
using servers::TestCertificates;

class Tls : public testing::Test {
 protected:
  [[nodiscard]] ServerTls tls(const TestCertificates::Pair& pair,
                              ClientCertificates clients = ClientCertificates::NotAsked) const {
    return {.ca = certificates_.ca(),
            .certificate = pair.certificate,
            .key = pair.key,
            .clients = clients};
  }
  [[nodiscard]] RedisOptions options(const RedisServer& server) const {
    RedisOptions made = long_timeout_options(server.url());
    made.ca_file = certificates_.ca().string();
    return made;
  }
  static Error rejection(RedisOptions options) {
    SharedLimiter limiter = open_limiter(std::move(options));
    Error error;
    servers::wait_until(
        "a rejection",
        [&] {
          const Result<Decision> said = limiter.check("key", kBucket);
          if (!said) error = said.error();
          return error.code == ErrorCode::Misconfigured;
        },
        5s);
    return error;
  }
  static void expect_rejected(RedisOptions options, std::string_view words) {
    const Error error = rejection(std::move(options));
    report("rejected", text_of(error));
    EXPECT_NE(error.detail.find("TLS"), std::string::npos) << error.detail;
    EXPECT_NE(error.detail.find(words), std::string::npos) << error.detail;
  }

  TestCertificates certificates_;
};

TEST_F(Tls, ATrustedServerWorksAndIsReconnectedAfterARestart) {
  RedisServer server(
      {.persistence = servers::Persistence::AppendOnly, .tls = tls(certificates_.server())});
  SharedLimiter limiter = open_limiter(options(server));
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(300);
  server.restart();
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  report_recovery("restart, over TLS", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

TEST_F(Tls, AnExpiredCertificateIsRejected) {
  const RedisServer server({.tls = tls(certificates_.expired())});
  expect_rejected(options(server), "expired");
}

TEST_F(Tls, ACertificateForAnotherHostIsRejected) {
  const RedisServer server({.tls = tls(certificates_.wrong_host())});
  expect_rejected(options(server), "another host");
}

TEST_F(Tls, ACertificateOfAnUnknownAuthorityIsRejected) {
  const RedisServer server({.tls = tls(certificates_.untrusted())});
  expect_rejected(options(server), "certificate");
}

TEST_F(Tls, TheClientCertificateIsSentToAServerThatRequiresIt) {
  const RedisServer server({.tls = tls(certificates_.server(), ClientCertificates::Required)});
  RedisOptions with = options(server);
  with.certificate_file = certificates_.client().certificate.string();
  with.key_file = certificates_.client().key.string();
  SharedLimiter limiter = open_limiter(with);
  wait_until_works(limiter);
  EXPECT_TRUE(limiter.check("key", kBucket));
}

TEST_F(Tls, AMissingClientCertificateIsMisconfigured) {
  const RedisServer server({.tls = tls(certificates_.server(), ClientCertificates::Required)});
  expect_rejected(options(server), "certificate");
}

}  // namespace
}  // namespace penstock::chaos
