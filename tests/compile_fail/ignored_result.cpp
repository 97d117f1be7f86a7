// expect: nodiscard
#include "penstock/penstock.hpp"

void forget(penstock::Counters& counters) { counters.add("served", std::int64_t{1}); }
