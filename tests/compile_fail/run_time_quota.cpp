// expect: not a constant expression
#include "penstock/penstock.hpp"

bool ask(penstock::Limiter& limiter, int limit) {
  return limiter.check("user:42", penstock::per_minute(limit)).allowed();
}
