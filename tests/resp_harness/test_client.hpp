#pragma once

#include "resp/command.hpp"
#include "resp_harness/late_store.hpp"
#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "service_harness/test_service.hpp"
#include "wire/resp/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A client of a Session without sockets.
namespace penstock::wire::resp {

inline constexpr std::string_view kTestRules = R"(
domains:
  api:
    deny:
      - {name: banned, when: {user: mallory}}
    rules:
      - {name: search, when: {path: /search}, key: [user], limit: 2/m, on_failure: closed}
      - {name: open, when: {path: /open}, limit: 1/m, on_failure: open}
)";

inline std::shared_ptr<const rules::Ruleset> test_rules() {
  const rules::Loaded loaded = rules::load_text(kTestRules, "test.yaml");
  for (const auto& diagnostic : loaded.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return loaded.configuration ? loaded.configuration->rules : std::make_shared<rules::Ruleset>();
}

// The environment of a session.
struct TestServer {
  LateStore store{};
  ManualClock clock{};
  store::ShardedTable local_memory{{.clock = &clock}};
  service::Membership members{1};
  service::LocalFallback local{local_memory, members};
  service::TestEvents events{};
  service::Service service{store.stores(), local, events, test_rules()};
  ServerContext server_context{service};
};

class TestClient {
 public:
  using Words = std::vector<std::string>;

  explicit TestClient(TestServer& server)
      : session_(std::make_shared<Session>(server.server_context, "127.0.0.1:5")) {
    session_->on_output = [this] { ++answers; };
  }
  ~TestClient() { disconnect(); }
  void disconnect() { session_->detach(); }

  // A command in wire format.
  static std::string encoded(const Words& words) {
    penstock::resp::CommandWriter writer(words.size());
    for (const std::string& word : words) writer.add(word);
    return std::move(writer).take();
  }

  // The session's next step after these bytes.
  Session::Step send(std::string_view bytes) {
    auto step = session_->advance();
    while (!bytes.empty() && step == Session::Step::Read) {
      const std::span<char> room = session_->reader().prepare();
      const std::size_t size = std::min(room.size(), bytes.size());
      std::memcpy(room.data(), bytes.data(), size);
      session_->reader().commit(size);
      bytes.remove_prefix(size);
      step = session_->advance();
    }
    return step;
  }
  std::string output() {
    return session_->has_output() ? std::string(session_->take_output()) : std::string{};
  }
  // The reply to a command, which must be available.
  std::string ask(const Words& words) {
    send(encoded(words));
    return output();
  }

  Session& session() { return *session_; }

  int answers = 0;  // that were deferred

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace penstock::wire::resp
