// The cost of the parts of a check, for docs/adr; `make bench` runs it.
#include "base/monotonic_time.hpp"
#include "base/spin_lock.hpp"
#include "core/any_state.hpp"
#include "penstock/penstock.hpp"
#include "store/hash128.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <string>

namespace {

using penstock::Algorithm;

void steady_clock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(std::chrono::steady_clock::now());
}
BENCHMARK(steady_clock);

void monotonic_now(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(penstock::base::monotonic_now());
}
BENCHMARK(monotonic_now);

void spin_lock(benchmark::State& state) {
  penstock::base::SpinLock lock;
  for (auto _ : state) {
    const penstock::base::SpinGuard guard(lock);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(spin_lock);

constexpr std::array<std::uint64_t, 2> kSecret{0x0123456789abcdefU, 0xfedcba9876543210U};

void aes_hash(benchmark::State& state) {
  if (!penstock::store::AesHash::is_supported()) return state.SkipWithError("no AES instructions");
  const penstock::store::AesHash hash(kSecret);
  const std::string key(static_cast<std::size_t>(state.range(0)), 'k');
  for (auto _ : state) benchmark::DoNotOptimize(hash(key, 0));
}
BENCHMARK(aes_hash)->ArgName("bytes")->Arg(13)->Arg(40)->Arg(200);

void sip_hash(benchmark::State& state) {
  const std::string key(static_cast<std::size_t>(state.range(0)), 'k');
  for (auto _ : state) benchmark::DoNotOptimize(penstock::store::sip_hash(kSecret, key));
}
BENCHMARK(sip_hash)->ArgName("bytes")->Arg(13)->Arg(40)->Arg(200);

// One key in the cache and a free clock: the cost of the decision alone.
void check(benchmark::State& state) {
  const auto algorithm = static_cast<Algorithm>(state.range(0));
  const penstock::ManualClock clock;
  penstock::Limiter limiter{penstock::MemoryOptions{.clock = &clock}};
  const auto quota = penstock::Quota::make(penstock::per_minute(1000).with(algorithm));
  if (!quota) return state.SkipWithError(quota.error().detail.c_str());
  for (auto _ : state) benchmark::DoNotOptimize(limiter.check("user:0012abcd", *quota));
  state.SetLabel(std::string(to_string(algorithm)));
}
BENCHMARK(check)->ArgName("algorithm")->DenseRange(0, penstock::core::kAlgorithms.size() - 1);

// A multi-limit check of three named limits of one key.
void check_several(benchmark::State& state) {
  penstock::Limiter limiter;
  const auto limits = penstock::Limits::make({{"second", penstock::per_second(1'000'000'000)},
                                              {"minute", penstock::per_minute(1'000'000'000)},
                                              {"day", penstock::per_day(1'000'000'000)}});
  if (!limits) return state.SkipWithError(limits.error().detail.c_str());
  for (auto _ : state) benchmark::DoNotOptimize(limiter.check("user:0012abcd", *limits));
}
BENCHMARK(check_several);

}  // namespace
