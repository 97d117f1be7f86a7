#pragma once

#include "resp/command.hpp"
#include "resp_harness/late_store.hpp"
#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "service_harness/test_service.hpp"
#include "wire/resp/conversation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A client that talks to a Conversation without sockets.
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

// What the program has around a conversation.
struct TestDoor {
  LateStore store{};
  ManualClock clock{};
  store::MemoryStore local_memory{{.clock = &clock}};
  service::Membership members{1};
  service::LocalShare local{local_memory, members};
  service::TestEvents events{};
  service::Service service{store, local, events, test_rules()};
  net::Statistics statistics{};
  Surroundings surroundings{.service = service, .statistics = statistics};
};

class Talk {
 public:
  using Words = std::vector<std::string>;

  explicit Talk(TestDoor& door)
      : conversation_(std::make_shared<Conversation>(door.surroundings, "127.0.0.1:5")) {
    conversation_->on_answer = [this] { ++answers; };
  }
  ~Talk() { conversation_->abandon(); }

  // As a client library sends it.
  static std::string encoded(const Words& words) {
    penstock::resp::CommandWriter writer(words.size());
    for (const std::string& word : words) writer.add(word);
    return std::move(writer).take();
  }

  // What the conversation wants after these bytes.
  Conversation::Step send(std::string_view bytes) {
    auto step = conversation_->advance();
    while (!bytes.empty() && step == Conversation::Step::Read) {
      const std::span<char> room = conversation_->reader().room();
      const std::size_t size = std::min(room.size(), bytes.size());
      std::memcpy(room.data(), bytes.data(), size);
      conversation_->reader().commit(size);
      bytes.remove_prefix(size);
      step = conversation_->advance();
    }
    return step;
  }
  std::string output() {
    return conversation_->has_output() ? std::string(conversation_->take_output()) : std::string{};
  }
  // The reply to a command, which must have come by now.
  std::string ask(const Words& words) {
    send(encoded(words));
    return output();
  }

  Conversation& conversation() { return *conversation_; }

  int answers = 0;  // that came late

 private:
  std::shared_ptr<Conversation> conversation_;
};

}  // namespace penstock::wire::resp
