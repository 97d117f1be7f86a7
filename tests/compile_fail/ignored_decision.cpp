// expect: nodiscard
#include "penstock/penstock.hpp"

void forget(penstock::Limiter& limiter) { limiter.check("user:42", penstock::per_minute(100)); }
