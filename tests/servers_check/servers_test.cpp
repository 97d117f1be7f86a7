#include "redis/url.hpp"
#include "servers/redis_server.hpp"
#include "servers/test_certificates.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

// Tests of the test servers themselves.
namespace penstock::servers {
namespace {

// A zombie is not alive: its parent may not have reaped it yet.
bool is_alive(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

redis::Url parsed(const std::string& url) { return redis::Url::parse(url).value(); }

TEST(RedisServer, LeavesNothingBehind) {
  pid_t pid = 0;
  std::filesystem::path directory;
  {
    const RedisServer server;
    pid = server.pid();
    directory = server.directory();
    EXPECT_TRUE(is_alive(pid));
    EXPECT_TRUE(std::filesystem::exists(directory));
  }
  EXPECT_FALSE(is_alive(pid));
  EXPECT_FALSE(std::filesystem::exists(directory));
}

// Restores an environment variable.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name); before != nullptr) {
      before_ = before;
    }
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_{};
};

TEST(RedisServerDeathTest, EndsWithTheProcessThatStartedIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The child cannot clean up, so everything it creates is below this directory. It reruns this
  // test with its own directory below this one.
  const TempDirectory directory;
  const ScopedVariable place("TMPDIR", directory.path().string());
  EXPECT_EXIT(
      {
        const RedisServer server;
        write_file(directory.path().parent_path() / "pid", std::to_string(server.pid()));
        std::raise(SIGKILL);
      },
      testing::KilledBySignal(SIGKILL), "");
  const pid_t pid = std::stoi(read_file(directory / "pid"));
  wait_until("the server to end", [pid] { return !is_alive(pid); });
}

TEST(RedisServer, OutlivesTheThreadThatStartedIt) {
  RedisServer server;
  std::thread([&] { server.restart(); }).join();
  EXPECT_EQ(server.command({"PING"}).text, "PONG");
}

TEST(RedisServer, ParsesRepliesOfEveryKind) {
  const RedisServer server;
  EXPECT_EQ(to_string(server.command({"SET", "a", "b\r\nc"})), "OK");
  EXPECT_EQ(to_string(server.command({"GET", "a"})), "b\r\nc");
  EXPECT_EQ(to_string(server.command({"GET", "none"})), "(nil)");
  EXPECT_EQ(to_string(server.command({"STRLEN", "a"})), "4");
  EXPECT_EQ(to_string(server.command({"MGET", "a", "none"})), "[b\r\nc, (nil)]");
  EXPECT_EQ(to_string(server.command({"INCR", "a"})),
            "-ERR value is not an integer or out of range");
  EXPECT_THROW(server.must({"INCR", "a"}), std::runtime_error);
  EXPECT_EQ(server.info("tcp_port"), std::to_string(server.port()));

  Session session(connect_to(server.port()));
  EXPECT_EQ(to_string(session.must({"MULTI"})), "OK");
  EXPECT_EQ(to_string(session.must({"PING"})), "QUEUED");
  EXPECT_EQ(to_string(session.must({"EXEC"})), "[PONG]");
}

TEST(RedisServer, RestartsOnTheSamePort) {
  RedisServer server;
  const std::uint16_t port = server.port();
  server.must({"SET", "a", "b"});
  server.kill();
  EXPECT_FALSE(server.is_running());
  EXPECT_THROW(connect_to(port), std::system_error);
  EXPECT_NE(ReservedPort().number(), port);
  server.restart();
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(Session(connect_to(port)).must({"EXISTS", "a"}).integer, 0);
}

TEST(RedisServer, KeepsDataWithPersistence) {
  RedisServer server({.persistence = Persistence::AppendOnly});
  server.must({"SET", "a", "b"});
  server.restart();
  EXPECT_EQ(server.command({"GET", "a"}).text, "b");
}

TEST(RedisServer, PausesAndResumes) {
  RedisServer server;
  server.pause();
  Reply reply;
  std::thread waiting([&] { reply = server.command({"PING"}); });
  const std::string stat = read_file("/proc/" + std::to_string(server.pid()) + "/stat");
  EXPECT_NE(stat.find(") T "), std::string::npos);
  EXPECT_FALSE(server.is_running());
  server.resume();
  waiting.join();
  EXPECT_EQ(reply.text, "PONG");
}

TEST(RedisServer, ReportsItsCpuTime) {
  const RedisServer server;
  const std::chrono::milliseconds before = server.cpu_time();
  while (server.cpu_time() < before + std::chrono::milliseconds{20}) {
    server.must({"EVAL", "for i = 1, 1000000 do end", "0"});
  }
}

TEST(RedisServer, RequiresItsPassword) {
  const RedisServer server({.password = "secret", .config = {"databases 3"}});
  EXPECT_EQ(server.command({"CONFIG", "GET", "databases"}).elements.at(1).text, "3");
  Session untrusted(connect_to(server.port()));
  EXPECT_TRUE(untrusted.command({"PING"}).text.starts_with("NOAUTH"));
  const redis::Url url = parsed(server.url());
  EXPECT_EQ(url.password, "secret");
  EXPECT_EQ(url.hosts.at(0).port, server.port());
}

TEST(RedisServer, ListensOnAUnixSocket) {
  const RedisServer server;
  const redis::Url url = parsed(server.unix_url());
  EXPECT_EQ(url.topology, redis::Topology::UnixSocket);
  Session session(connect_to(std::filesystem::path(url.socket_path)));
  EXPECT_EQ(session.command({"PING"}).text, "PONG");
}

TEST(RedisServer, ReportsWhyItDoesNotStart) {
  try {
    const RedisServer server({.config = {"no-such-option 1"}});
    FAIL();
  } catch (const std::runtime_error& failure) {
    EXPECT_NE(std::string(failure.what()).find("no-such-option"), std::string::npos);
  }
  EXPECT_THROW(RedisServer({.program = "no-such-server"}), std::runtime_error);
}

TEST(RedisServer, EveryInstalledProgramStarts) {
  ASSERT_FALSE(installed_servers().empty());
  for (const std::string& program : installed_servers()) {
    EXPECT_EQ(RedisServer({.program = program}).command({"PING"}).text, "PONG");
  }
}

class RedisServerTls : public testing::Test {
 protected:
  static RedisServerOptions with(const TestCertificates::Pair& pair,
                                 ClientCertificates clients = ClientCertificates::NotAsked) {
    const ServerTls tls{.ca = certificates().ca(),
                        .certificate = pair.certificate,
                        .key = pair.key,
                        .clients = clients};
    return {.tls = tls};
  }

  // Whether a client that trusts only our authority completes the handshake.
  static bool connects(const RedisServer& server, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"openssl",
                                   "s_client",
                                   "-connect",
                                   "127.0.0.1:" + std::to_string(server.port()),
                                   "-CAfile",
                                   certificates().ca().string(),
                                   "-verify_ip",
                                   "127.0.0.1",
                                   "-verify_return_error",
                                   "-tls1_2"};  // in 1.3 the client does not wait for a rejection
    words.insert(words.end(), more.begin(), more.end());
    try {
      run_program(words, server.directory() / "s_client.log");
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  static const TestCertificates& certificates() {
    static const TestCertificates made;
    return made;
  }
};

TEST_F(RedisServerTls, PresentsItsCertificate) {
  const RedisServer server(with(certificates().server()));
  EXPECT_TRUE(server.url().starts_with("rediss://"));
  EXPECT_EQ(parsed(server.url()).transport, redis::Transport::Tls);
  EXPECT_EQ(server.command({"PING"}).text, "PONG");
  EXPECT_TRUE(connects(server));
}

TEST_F(RedisServerTls, InvalidCertificatesAreRejected) {
  EXPECT_FALSE(connects(RedisServer(with(certificates().expired()))));
  EXPECT_FALSE(connects(RedisServer(with(certificates().untrusted()))));
  EXPECT_FALSE(connects(RedisServer(with(certificates().wrong_host()))));
}

TEST_F(RedisServerTls, RequiresClientCertificates) {
  const RedisServer server(with(certificates().server(), ClientCertificates::Required));
  const auto [certificate, key] = certificates().client();
  EXPECT_FALSE(connects(server));
  EXPECT_TRUE(connects(server, {"-cert", certificate.string(), "-key", key.string()}));
}

}  // namespace
}  // namespace penstock::servers
