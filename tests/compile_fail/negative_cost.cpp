// expect: narrow
#include "penstock/penstock.hpp"

bool ask(penstock::Limiter& limiter) {
  return limiter.check("user:42", penstock::per_minute(100), penstock::Cost{-1}).allowed();
}
