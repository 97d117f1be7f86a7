#pragma once

#include "apps/penstock/store_arguments.hpp"
#include "bench/load.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace penstock::app {

// Of `penstock bench store`, as typed.
struct BenchArguments {
  StoreArguments store{.url = kMemoryStore};
  std::string algorithm;
  std::string limit = "1000/d";
  std::optional<std::int64_t> burst;
  std::string distribution = "uniform";
  std::string baseline = "none";
  bool json = false;
  unsigned batch = 1;
  bench::Load load;  // the distribution is put in when it was read
};

// The part for stores that are elsewhere. Prints its report.
[[nodiscard]] Result<void> run_redis_bench(const BenchArguments& arguments, const Quota& quota);

}  // namespace penstock::app
