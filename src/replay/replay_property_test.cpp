// A replay decides exactly as the service layer does with a manual clock and the memory store, for
// the same requests in the order of their times: random rules of all kinds, random logs.
#include "penstock/clock.hpp"
#include "replay/input/text_source.hpp"
#include "replay/replay.hpp"
#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "store/memory_store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace penstock::replay {
namespace {

template <class Element, std::size_t Size>
Element any_of(const std::array<Element, Size>& choices) {
  return choices[*rc::gen::inRange<std::size_t>(0, Size)];
}

constexpr std::array<const char*, 7> kNames{"token_bucket",    "gcra",        "fixed_window",
                                            "anchored_window", "sliding_log", "sliding_counter",
                                            "sub_windows"};

std::string random_limit() {
  constexpr std::array<const char*, 5> kLimits{"1/s", "2/10s", "3/m", "5/2s", "4/h"};
  return std::string("{limit: ") + any_of(kLimits) + ", algorithm: " + any_of(kNames) + "}";
}

std::string random_rule(int number) {
  constexpr std::array<const char*, 5> kConditions{
      "", "when: {path: /a/**}, ", "when: {method: POST}, ", "when: {client_ip: 192.0.2.0/30}, ",
      "when: {path: '/a/{id}'}, "};
  constexpr std::array<const char*, 5> kKeys{"", "key: [client_ip], ", "key: [user], ",
                                             "key: [client_ip, path], ", "key: [header.x-key], "};
  constexpr std::array<const char*, 3> kMissing{"skip", "deny", "count_as_one"};
  std::string rule =
      "{name: r" + std::to_string(number) + ", " + any_of(kConditions) + any_of(kKeys);
  rule += std::string("if_missing: ") + any_of(kMissing) + ", ";
  if (*rc::gen::inRange(0, 4) == 0) rule += "shadow: true, ";
  if (*rc::gen::inRange(0, 4) == 0) rule += "count_denied: true, ";
  if (*rc::gen::inRange(0, 4) == 0) rule += "cost: {attribute: size, default: 1}, ";
  if (*rc::gen::inRange(0, 2) == 0) return rule + "limits: {one: " + random_limit() + "}}";
  return rule + "limits: {one: " + random_limit() + ", two: " + random_limit() + "}}";
}

std::string random_rules() {
  std::string text = "domains: {web: {caller_attributes: [user, size], ";
  if (*rc::gen::inRange(0, 3) == 0) text += "deny: [{name: d, when: {client_ip: 192.0.2.2}}], ";
  if (*rc::gen::inRange(0, 3) == 0) text += "allow: [{name: a, when: {path: /b}}], ";
  text += "rules: [";
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + random_rule(i);
  return text + "]}}";
}

struct Logged {
  RequestOrder order{};
  std::vector<std::pair<std::string, std::string>> attributes{};  // as rules see them
  std::string line{};
};

Logged random_request(std::int64_t micros, std::uint32_t input, std::uint64_t number) {
  constexpr std::array<const char*, 3> kClients{"192.0.2.1", "192.0.2.2", "2001:db8::7"};
  constexpr std::array<const char*, 3> kPaths{"/a/1", "/a/2", "/b"};
  Logged logged{.order = {.time = Instant{Duration{micros}}, .input = input, .line = number}};
  logged.attributes = {{"method", *rc::gen::inRange(0, 2) == 0 ? "GET" : "POST"},
                       {"path", any_of(kPaths)},
                       {"client_ip", any_of(kClients)}};
  if (*rc::gen::inRange(0, 2) == 0) logged.attributes.emplace_back("user", "ann");
  if (*rc::gen::inRange(0, 2) == 0) logged.attributes.emplace_back("header.x-key", "k");
  if (*rc::gen::inRange(0, 3) == 0) {
    logged.attributes.emplace_back("size", std::to_string(*rc::gen::inRange(0, 6)));
  }
  logged.line = "{\"time\":" + std::to_string(micros);
  for (const auto& [name, value] : logged.attributes)
    logged.line += ",\"" + name + "\":\"" + value + "\"";
  logged.line += "}\n";
  return logged;
}

// Logs whose lines are out of order by less than the window.
constexpr Duration kWindow = std::chrono::seconds{5};
std::vector<std::vector<Logged>> random_logs() {
  std::vector<std::vector<Logged>> logs(*rc::gen::inRange<std::size_t>(1, 4));
  for (std::size_t input = 0; input < logs.size(); ++input) {
    std::int64_t now = 1'791'640'536'000'000;
    const int count = *rc::gen::inRange(0, 120);
    for (int i = 0; i < count; ++i) {
      now += *rc::gen::element<std::int64_t>(0, 1, 50'000, 400'000, 1'000'000, 30'000'000);
      const std::int64_t late = *rc::gen::inRange<std::int64_t>(0, kWindow.count());
      logs[input].push_back(random_request(now - late, static_cast<std::uint32_t>(input),
                                           static_cast<std::uint64_t>(i) + 1));
    }
  }
  return logs;
}

std::string text_of(const service::Answer& answer) {
  std::string text = std::string(answer.allowed ? "allowed " : "denied ");
  text.append(to_string(answer.reason));
  for (const service::LimitAnswer& limit : answer.limits) {
    text += "; " + limit.matched.check.name.limit + " " + limit.matched.check.name.subject +
            (limit.shadow ? " shadow" : "");
    if (!limit.decision) continue;
    text.append(" ").append(to_string(limit.decision->outcome()));
    text += " " + std::to_string(limit.decision->remaining()) + " " +
            std::to_string(limit.decision->reset_after().count()) + " " +
            std::to_string(limit.decision->retry_after().value_or(Duration{-1}).count());
  }
  return text;
}

class IgnoredEvents final : public service::Events {
 public:
  void on_store_call(std::chrono::steady_clock::duration /*waited*/,
                     const Error* /*failure*/) override {}
  void on_answer(std::string_view /*domain*/, const service::Answer& /*answer*/) override {}
  void on_take(std::string_view /*subject*/, const Decision& /*decision*/) override {}
};

// The service layer, with its dependencies put together here.
std::vector<std::string> answers_of_service(const std::shared_ptr<const rules::Ruleset>& rules,
                                            std::vector<Logged> requests) {
  std::sort(requests.begin(), requests.end(),
            [](const Logged& a, const Logged& b) { return a.order < b.order; });
  ManualClock clock(Instant{});
  IgnoredEvents events;
  service::Membership members{1};
  store::ShardedTable memory(MemoryOptions{.clock = &clock});
  service::LocalFallback local(memory, members);
  store::MemoryStore store(memory);
  service::Service service(
      {.stores = store.stores(), .local = local, .events = events, .clock = &clock}, rules);
  std::vector<std::string> answers;
  for (const Logged& one : requests) {
    clock.set(one.order.time);
    rules::Request request{.domain = "web", .descriptors = {{}}};
    for (const auto& [name, value] : one.attributes) {
      request.descriptors.front().entries.push_back({.name = name, .value = value});
    }
    service.decide(request, {},
                   [&](const service::Answer& said) { answers.push_back(text_of(said)); });
  }
  return answers;
}

RC_GTEST_PROP(ReplayProperty, EqualsTheServiceLayerDecisionForDecision, ()) {
  const std::string text = random_rules();
  const rules::Loaded loaded = rules::load_text(text, "p.yaml");
  if (!loaded.configuration) RC_FAIL(text + "\n" + to_string(loaded.diagnostics.front()));
  const auto logs = random_logs();
  Replay replay({.domain = "web",
                 .format = LogFormat::Json,
                 .mapping = *FieldMap::parse("user=user,size=size"),
                 .window = kWindow},
                loaded.configuration->rules, nullptr);
  std::vector<std::string> answers;
  replay.observe([&](const RequestOrder& /*order*/, const rules::Request& /*request*/,
                     const service::Answer& answer) { answers.push_back(text_of(answer)); });
  std::vector<Logged> all;
  const std::size_t portion = *rc::gen::inRange<std::size_t>(1, 5000);
  for (const std::vector<Logged>& log : logs) {
    std::string lines;
    for (const Logged& one : log) lines += one.line;
    all.insert(all.end(), log.begin(), log.end());
    RC_ASSERT(replay.add("log", std::make_unique<TextSource>(lines, portion)).has_value());
  }
  RC_ASSERT(replay.run().has_value());
  RC_ASSERT(replay.lines().late == 0U);
  RC_ASSERT(answers == answers_of_service(loaded.configuration->rules, all));
  std::uint64_t denied = 0;
  for (const std::string& answer : answers) denied += answer.starts_with("denied") ? 1U : 0U;
  RC_ASSERT(replay.statistics().totals().denied == denied);
}

}  // namespace
}  // namespace penstock::replay
