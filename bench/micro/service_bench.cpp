// What a request costs between a door and the embedded store.
#include "rules/configuration.hpp"
#include "service/recorder.hpp"
#include "service/service.hpp"
#include "store/embedded_store.hpp"

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

// Everything that stands behind a door of one worker.
struct Worker {
  Worker() : rules(rules::load_text(kRules, "bench.yaml").configuration.value().rules) {}

  void decide(const rules::Request& request) {
    service.decide(request, {}, [](service::Answer answer) { benchmark::DoNotOptimize(answer); });
  }

  std::ostringstream lines{};
  telemetry::Log log{{}, lines};
  telemetry::Metrics numbers{"bench"};
  telemetry::WorkerMetrics& metrics = numbers.add_worker();
  telemetry::HotKeyBoard board{};
  telemetry::HotKeys hot_keys{board, 0};
  telemetry::LimitedLog limited{log, system_clock(),
                                metrics.cell(telemetry::metrics::kLogLinesSuppressed)};
  service::Recorder recorder{metrics, hot_keys, limited};
  store::MemoryStore memory{MemoryOptions{}};
  service::Membership members{1};
  service::LocalShare local{memory, members};
  store::EmbeddedStore store{memory};
  std::shared_ptr<const rules::Ruleset> rules;
  service::Service service{store, local, recorder, rules};
};

rules::Request request(std::string_view path, std::string_view api_key) {
  return {.domain = "api",
          .descriptors = {{.entries = {{.name = "path", .value = path},
                                       {.name = "api_key", .value = api_key}}}}};
}

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

void decide_two_limits(benchmark::State& state) {
  Worker worker;
  const rules::Request asked = request("/v1/search/both", "0123456789abcdef");
  for (auto _ : state) worker.decide(asked);
}
BENCHMARK(decide_two_limits);

void note_hot_key(benchmark::State& state) {
  telemetry::HotKeyBoard board;
  telemetry::HotKeys keys(board, 0);
  std::vector<std::string> subjects;
  for (int i = 0; i < state.range(0); ++i) subjects.push_back("api_key=" + std::to_string(i));
  std::size_t next = 0;
  for (auto _ : state) {
    keys.note(telemetry::HotKind::Asked, "api/search", subjects[next++ % subjects.size()]);
  }
}
BENCHMARK(note_hot_key)->ArgName("keys")->Arg(100)->Arg(100'000);

}  // namespace
