#include "bench/load.hpp"

namespace penstock::bench {

std::vector<std::vector<std::uint32_t>> draw_round(const Load& load, unsigned round) {
  std::vector<std::vector<std::uint32_t>> keys(load.threads);
  const std::uint64_t per_thread = std::max<std::uint64_t>(load.checks / kRounds / load.threads, 1);
  for (unsigned thread = 0; thread < load.threads; ++thread) {
    const std::uint64_t seed =
        load.seed + (std::uint64_t{round} * load.threads + thread) * 0x10001U;
    keys[thread] = draw_keys(load.distribution, load.keys, per_thread, seed);
  }
  return keys;
}

}  // namespace penstock::bench
