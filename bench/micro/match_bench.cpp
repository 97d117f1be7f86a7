// The cost of matching a request against few and many rules, and of loading rules and maps.
#include "rules/model/configuration.hpp"
#include "rules/model/value_maps.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace {

using penstock::rules::Request;

// Two rules for all requests, and `tenants` rules for one tenant each.
std::string configuration(std::int64_t rules) {
  std::string text =
      "domains:\n"
      "  api:\n"
      "    deny: [{name: banned, when: {client_ip: [203.0.113.0/24, 2001:db8::/32]}}]\n"
      "    rules:\n"
      "      - {name: everyone, limit: 50000/s}\n"
      "      - {name: address, key: client_ip, limit: 100/s}\n";
  for (std::int64_t i = 0; i < rules; ++i) {
    const std::string number = std::to_string(i);
    text.append("      - {name: search-").append(number);
    text.append(", when: {method: GET, path: /v1/t").append(number);
    text.append("/**}, key: [api_key], limit: 600/minute}\n");
  }
  return text;
}

void match(benchmark::State& state) {
  const penstock::rules::Loaded loaded =
      penstock::rules::load_text(configuration(state.range(0)), "bench.yaml");
  if (!loaded.configuration) return state.SkipWithError("the configuration does not load");
  const Request request{.domain = "api",
                        .descriptors = {{.entries = {{"method", "GET"},
                                                     {"path", "/v1/t7/search"},
                                                     {"client_ip", "198.51.100.7"},
                                                     {"api_key", "0123456789abcdef"}}}}};
  std::size_t limits = 0;
  for (auto _ : state) {
    const auto found = loaded.configuration->rules->match(request);
    limits = found.limits.size();
    benchmark::DoNotOptimize(found);
  }
  state.SetLabel(std::to_string(limits) + " limits apply");
}
BENCHMARK(match)->ArgName("rules")->Arg(10)->Arg(100)->Arg(10'000);

void load_rules(benchmark::State& state) {
  const std::string text = configuration(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(penstock::rules::load_text(text, "bench.yaml"));
}
BENCHMARK(load_rules)->ArgName("rules")->Arg(10'000)->Unit(benchmark::kMillisecond);

std::string map_lines(std::int64_t entries, const std::string& separator) {
  std::string text;
  for (std::int64_t i = 0; i < entries; ++i) {
    text += "key-" + std::to_string(i * 7919) + separator + "gold\n";
  }
  return text;
}

void load_yaml_map(benchmark::State& state) {
  const std::string text = map_lines(state.range(0), ": ");
  penstock::rules::Diagnostics diagnostics;
  for (auto _ : state) {
    benchmark::DoNotOptimize(penstock::rules::parse_yaml_map(text, "map.yaml", diagnostics));
  }
}
BENCHMARK(load_yaml_map)->ArgName("entries")->Arg(100'000)->Unit(benchmark::kMillisecond);

void load_csv_map(benchmark::State& state) {
  const std::string text = map_lines(state.range(0), ",");
  penstock::rules::Diagnostics diagnostics;
  for (auto _ : state) {
    benchmark::DoNotOptimize(penstock::rules::parse_csv_map(text, "map.csv", diagnostics));
  }
}
BENCHMARK(load_csv_map)->ArgName("entries")->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
