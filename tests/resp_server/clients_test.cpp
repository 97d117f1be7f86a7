// Third-party clients: hiredis and redis-cli.

#include "resp_server/running_server.hpp"
#include "servers/process.hpp"
#include "servers/temp_directory.hpp"
#include "servers/test_certificates.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace penstock::resp_server {
namespace {

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(void* reply) const { freeReplyObject(reply); }
};
using Context = std::unique_ptr<redisContext, Free>;

Context connect(const RunningServer& server) {
  return Context(redisConnect("127.0.0.1", server.port()));
}

std::string text_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER: return std::to_string(reply.integer);
    case REDIS_REPLY_NIL: return "nil";
    case REDIS_REPLY_ARRAY: {
      std::string text = "[";
      for (std::size_t i = 0; i < reply.elements; ++i) {
        text += (i > 0 ? " " : "") + text_of(*reply.element[i]);
      }
      return text + "]";
    }
    default: return {reply.str, reply.len};
  }
}

std::string next_reply(redisContext* context) {
  void* raw = nullptr;
  if (redisGetReply(context, &raw) != REDIS_OK) return std::string("broken: ") + context->errstr;
  const std::unique_ptr<void, Free> reply(raw);
  return text_of(*static_cast<redisReply*>(raw));
}

std::string ask(redisContext* context, const char* command) {
  redisAppendCommand(context, command);
  return next_reply(context);
}

// The output of redis-cli.
std::string redis_cli(const RunningServer& server, const std::vector<std::string>& arguments) {
  const servers::TempDirectory folder;
  std::vector<std::string> all{"redis-cli", "-h", "127.0.0.1", "-p", std::to_string(server.port())};
  all.insert(all.end(), arguments.begin(), arguments.end());
  servers::run_program(all, folder / "log");
  std::ifstream log(folder / "log");
  return {std::istreambuf_iterator<char>(log), {}};
}

TEST(RespClients, HiredisWorks) {
  RunningServer server;
  const Context context = connect(server);
  EXPECT_EQ(ask(context.get(), "PING"), "PONG");
  EXPECT_EQ(ask(context.get(), "CL.THROTTLE user 15 30 60 1"), "[0 16 15 -1 2]");
  EXPECT_EQ(ask(context.get(), "THROTTLE other 16 30 60 1"), "[1 16 15 30 0]");
  EXPECT_EQ(ask(context.get(), "INCR visits"), "1");
  EXPECT_EQ(ask(context.get(), "NOPE"), "ERR unknown command 'NOPE', with args beginning with: ");
}

TEST(RespClients, PipelinesAreAnsweredInOrder) {
  RunningServer server;
  const Context context = connect(server);
  for (int i = 0; i < 5'000; ++i) redisAppendCommand(context.get(), "ECHO %d", i);
  for (int i = 0; i < 5'000; ++i) EXPECT_EQ(next_reply(context.get()), std::to_string(i));
}

// A whole pipeline reaches the store before the first answer.
TEST(RespClients, PipelinesReachTheStoreAtOnce) {
  RunningServer server;
  server.set_late(true);
  const Context context = connect(server);
  for (int i = 0; i < 100; ++i) redisAppendCommand(context.get(), "CL.THROTTLE user 999 1 1 1");
  int done = 0;
  while (done == 0) redisBufferWrite(context.get(), &done);
  servers::wait_until("all of them", [&] { return server.waiting() == 100; });
  server.answer_all();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(next_reply(context.get()).starts_with("[0 1000 " + std::to_string(999 - i)));
  }
}

TEST(RespClients, RedisCliWorks) {
  RunningServer server;
  EXPECT_EQ(redis_cli(server, {"PING"}), "PONG\n");
  EXPECT_EQ(redis_cli(server, {"CL.THROTTLE", "user", "15", "30", "60"}), "0\n16\n15\n-1\n2\n");
  EXPECT_EQ(redis_cli(server, {"-3", "INCRBYFLOAT", "spent", "0.25"}), "0.25\n");
}

TEST(RespClients, RedisCliNeedsThePassword) {
  wire::resp::ServerOptions options;
  options.resp.passwords = {"sesame"};
  RunningServer server(options);
  EXPECT_NE(redis_cli(server, {"PING"}).find("NOAUTH"), std::string::npos);
  EXPECT_EQ(redis_cli(server, {"--no-auth-warning", "-a", "sesame", "PING"}), "PONG\n");
  EXPECT_EQ(redis_cli(server, {"-3", "--no-auth-warning", "-a", "sesame", "PING"}), "PONG\n");
}

TEST(RespClients, RedisCliWorksOverTls) {
  const servers::TestCertificates certificates;
  wire::resp::ServerOptions options;
  options.resp.tls = net::TlsFiles{.certificate = certificates.server().certificate.string(),
                                   .key = certificates.server().key.string()};
  RunningServer server(options);
  ASSERT_EQ(server.failure(), "");
  const std::string ca = certificates.ca().string();
  EXPECT_EQ(redis_cli(server, {"--tls", "--cacert", ca, "ECHO", std::string(100'000, 'x')}),
            std::string(100'000, 'x') + "\n");
  EXPECT_EQ(redis_cli(server, {"--tls", "--cacert", ca, "INCR", "visits"}), "1\n");
}

}  // namespace
}  // namespace penstock::resp_server
