#pragma once

#include "apps/command_line/arguments.hpp"
#include "bench/load.hpp"
#include "penstock/quota.hpp"

#include <string>

namespace penstock::bench {

// Arguments of `penstock-bench store`.
struct BenchArguments {
  app::StoreArguments store{.url = app::kMemoryStore};
  app::LimitArguments limit{.limit = "1000/d"};
  std::string distribution = "uniform";
  std::string baseline = "none";
  bool json = false;
  unsigned batch = 1;
  Load load;  // its distribution is set from the text above
};

// Measures a Redis and prints the report.
[[nodiscard]] Result<void> run_redis_bench(const BenchArguments& arguments, const Quota& quota);

}  // namespace penstock::bench
