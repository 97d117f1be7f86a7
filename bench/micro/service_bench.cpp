// The cost of a request between a listener and the memory store.
#include "rules/model/configuration.hpp"
#include "service/recorder.hpp"
#include "service/service.hpp"
#include "store/memory_store.hpp"

#include <benchmark/benchmark.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace penstock;

constexpr std::string_view kRules = R"(
domains:
  api:
    rules:
      - name: search
        when: {path: /v1/search/**}
        key: [api_key]
        limit: 1000000000/s
      - name: everyone
        when: {path: /v1/search/both}
        limit: 1000000000/s
)";

// The same in a roll-out.
constexpr std::string_view kRolloutRules = R"(
domains:
  api:
    rules:
      - name: search
        when: {path: /v1/search/**}
        key: [api_key]
        limit: 1000000000/s
        enforce: 99.99%
        abort: {denied_above: 5%, over: 1m}
        near_limit: 80%
)";

constexpr std::string_view kEnvoyRules = R"(
domain: edge
descriptors:
  - key: destination
    value: search
    rate_limit: {unit: second, requests_per_unit: 1000000000}
  - key: tenant
    descriptors:
      - key: remote_address
        rate_limit: {unit: second, requests_per_unit: 1000000000}
)";

// All dependencies of a listener of one worker.
struct Worker {
  explicit Worker(std::string_view text = kRules)
      : rules(rules::load_text(std::string(text), "bench.yaml").configuration.value().rules) {}

  // As an engine starts.
  std::shared_ptr<const rules::Ruleset> started() {
    rollouts.use(rules);
    return rules;
  }
  void decide(const rules::Request& request) {
    service.decide(request, {}, [](service::Answer answer) { benchmark::DoNotOptimize(answer); });
  }

  std::ostringstream lines{};
  telemetry::Log log{{}, lines};
  telemetry::Metrics numbers{"bench"};
  telemetry::WorkerMetrics& metrics = numbers.add_worker();
  telemetry::HotKeyRegistry board{};
  telemetry::HotKeys hot_keys{board, 0};
  telemetry::RateLimitedLog limited{log, system_clock(),
                                    metrics.cell(telemetry::metrics::kLogLinesSuppressed)};
  service::SharedNearLimits shared_near_limits{};
  service::NearLimits near_limits{metrics, log, shared_near_limits, system_clock()};
  service::Recorder recorder{metrics, hot_keys, limited, &near_limits};
  service::Rollouts rollouts{numbers, log};
  store::ShardedTable memory{MemoryOptions{}};
  service::Membership members{1};
  service::LocalFallback local{memory, members};
  store::MemoryStore store{memory};
  std::shared_ptr<const rules::Ruleset> rules;
  service::LiveOverrides overrides{};
  service::Service service{{.stores = store.stores(),
                            .local = local,
                            .events = recorder,
                            .overrides = &overrides,
                            .rollouts = &rollouts},
                           started()};
};

rules::Request request(std::string_view path, std::string_view api_key) {
  return {.domain = "api",
          .descriptors = {{.entries = {{.name = "path", .value = path},
                                       {.name = "api_key", .value = api_key}}}}};
}

// A request of a proxy: two descriptors, each with its own limit.
rules::Request envoy_request(std::string_view address) {
  return {.domain = "edge",
          .descriptors = {{.entries = {{.name = "destination", .value = "search"}}},
                          {.entries = {{.name = "tenant", .value = "a-customer-of-ours"},
                                       {.name = "remote_address", .value = address}}}}};
}

// More addresses than fit the L1 cache.
std::vector<std::string> addresses() {
  constexpr int kAddresses = 2000;
  std::vector<std::string> texts;
  texts.reserve(kAddresses);
  for (int i = 0; i < kAddresses; ++i) {
    texts.push_back("198.51." + std::to_string(i / 250) + "." + std::to_string(i % 250));
  }
  return texts;
}

// The extra cost of on_failure: local per response of the shared store.
void remember_one(benchmark::State& state) {
  store::ShardedTable memory{MemoryOptions{}};
  const service::Membership members{static_cast<unsigned>(state.range(0))};
  service::LocalFallback local(memory, members);
  const core::NamedCheck check{.name = {"api_key=0123456789abcdef", "api/search"},
                               .quota = per_minute(600).burst(100)};
  std::uint32_t remaining = 0;
  for (auto _ : state) {
    local.remember(check, Decision::allow(100, remaining++ % 100, std::chrono::seconds{10}),
                   local.changes());
  }
}
BENCHMARK(remember_one)->Arg(1)->Arg(5);

void match_one(benchmark::State& state) {
  const Worker worker;
  const rules::Request asked = request("/v1/search/x", "0123456789abcdef");
  for (auto _ : state) benchmark::DoNotOptimize(worker.rules->match(asked));
}
BENCHMARK(match_one);

void decide_one_limit(benchmark::State& state) {
  Worker worker;
  const rules::Request asked = request("/v1/search/x", "0123456789abcdef");
  for (auto _ : state) worker.decide(asked);
}
BENCHMARK(decide_one_limit);

void decide_rollout(benchmark::State& state) {
  Worker worker(kRolloutRules);
  const rules::Request asked = request("/v1/search/x", "0123456789abcdef");
  for (auto _ : state) worker.decide(asked);
}
BENCHMARK(decide_rollout);

// The same while other subjects of the rule have overrides, or this one has.
void decide_beside_overrides(benchmark::State& state) {
  Worker worker;
  store::OverrideList list{.version = 1, .overrides = std::vector<store::Override>{}};
  for (int i = 0; i < 1000; ++i) {
    const bool is_ours = i == 0 && state.range(0) == 1;
    list.overrides->push_back(
        {.rule = "api/search",
         .subject = is_ours ? "api_key=0123456789abcdef" : "api_key=" + std::to_string(i),
         .effect = store::Override::Effect::Multiply,
         .value = "0.5",
         .expires_at = Instant::max()});
  }
  worker.overrides.publish(worker.overrides.begin_read(), std::move(list));
  const rules::Request asked = request("/v1/search/x", "0123456789abcdef");
  for (auto _ : state) worker.decide(asked);
}
BENCHMARK(decide_beside_overrides)->ArgName("own")->Arg(0)->Arg(1);

void decide_two_limits(benchmark::State& state) {
  Worker worker;
  const rules::Request asked = request("/v1/search/both", "0123456789abcdef");
  for (auto _ : state) worker.decide(asked);
}
BENCHMARK(decide_two_limits);

void match_envoy(benchmark::State& state) {
  const Worker worker(kEnvoyRules);
  const rules::Request asked = envoy_request("198.51.100.7");
  for (auto _ : state) benchmark::DoNotOptimize(worker.rules->match(asked));
}
BENCHMARK(match_envoy);

void decide_envoy(benchmark::State& state) {
  Worker worker(kEnvoyRules);
  const std::vector<std::string> clients = addresses();
  std::vector<rules::Request> asked;
  asked.reserve(static_cast<std::size_t>(state.range(0)));
  for (int i = 0; i < state.range(0); ++i) {
    asked.push_back(envoy_request(clients[static_cast<std::size_t>(i)]));
  }
  std::size_t next = 0;
  for (auto _ : state) {
    worker.decide(asked[next]);
    if (++next == asked.size()) next = 0;
  }
}
BENCHMARK(decide_envoy)->ArgName("clients")->Arg(1)->Arg(2000);

void note_hot_key(benchmark::State& state, telemetry::HotKeyKind kind) {
  telemetry::HotKeyRegistry board;
  telemetry::HotKeys keys(board, 0);
  std::vector<std::string> subjects;
  subjects.reserve(static_cast<std::size_t>(state.range(0)));
  for (int i = 0; i < state.range(0); ++i) subjects.push_back("api_key=" + std::to_string(i));
  std::size_t next = 0;
  for (auto _ : state) {
    keys.note(kind, "api/search", subjects[next++ % subjects.size()]);
  }
}
BENCHMARK_CAPTURE(note_hot_key, requested, telemetry::HotKeyKind::Requested)
    ->ArgName("keys")
    ->Arg(100)
    ->Arg(100'000);
BENCHMARK_CAPTURE(note_hot_key, denied, telemetry::HotKeyKind::Denied)
    ->ArgName("keys")
    ->Arg(100)
    ->Arg(100'000);

}  // namespace
