// expect: limit_must_be_at_least_1
#include "penstock/penstock.hpp"

bool ask(penstock::Limiter& limiter) {
  return limiter.check("user:42", penstock::per_minute(0)).allowed();
}
