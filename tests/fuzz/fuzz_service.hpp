#pragma once

#include "penstock/clock.hpp"
#include "portions.hpp"
#include "rules/model/configuration.hpp"
#include "service/local_fallback.hpp"
#include "service/service.hpp"
#include "store/memory_store.hpp"

#include <chrono>
#include <memory>
#include <string_view>

// A service with in-memory state and virtual time, for targets that run whole requests.
namespace penstock::fuzz {

inline std::shared_ptr<const rules::Ruleset> fuzz_rules() {
  constexpr std::string_view kRules = R"(
domains:
  api:
    deny:
      - {name: banned, when: {user: mallory}}
    rules:
      - {name: search, when: {path: /search}, key: [user], limit: 2/m}
      - {name: pattern, when: {path: {regex: "/v[0-9]+/.*"}}, key: [client_ip], limit: 5/m}
      - {name: all, limit: 1000/h}
)";
  const rules::Loaded loaded = rules::load_text(kRules, "fuzz.yaml");
  check(loaded.configuration.has_value());
  return loaded.configuration->rules;
}

class NoEvents final : public service::Events {
 public:
  void on_store_call(std::chrono::steady_clock::duration /*waited*/,
                     const Error* /*failure*/) override {}
  void on_answer(std::string_view /*domain*/, const service::Answer& /*answer*/) override {}
  void on_take(std::string_view /*subject*/, const Decision& /*decision*/) override {}
};

struct FuzzService {
  ManualClock clock{};
  store::ShardedTable memory{{.max_keys = 1'000, .clock = &clock}};
  store::MemoryStore store{memory};
  store::ShardedTable local_memory{{.max_keys = 1'000, .clock = &clock}};
  service::Membership members{1};
  service::LocalFallback local{local_memory, members};
  NoEvents events{};
  service::Service service{store.stores(), local, events, fuzz_rules()};
};

}  // namespace penstock::fuzz
