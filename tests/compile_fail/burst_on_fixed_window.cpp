// expect: burst_needs_token_bucket_or_gcra
#include "penstock/penstock.hpp"

bool ask(penstock::Limiter& limiter) {
  return limiter.check("user:42", penstock::per_minute(100).fixed_window().burst(20)).allowed();
}
