// expect: success
#include "penstock/penstock.hpp"

// The correct form of what the other files in this folder get wrong.
penstock::Result<int> correct(penstock::Limiter& limiter, int limit) {
  int allowed = 0;
  allowed += limiter.check("user:42", penstock::per_minute(1)).allowed() ? 1 : 0;
  allowed += limiter.check("user:42", penstock::per_minute(100).burst(20)).allowed() ? 1 : 0;
  allowed += limiter.check("user:42", penstock::per_minute(100).fixed_window()).allowed() ? 1 : 0;
  allowed += limiter.check("user:42", penstock::per_minute(9), penstock::Cost{1}).allowed() ? 1 : 0;
  const penstock::Result<penstock::Quota> quota =
      penstock::Quota::make(penstock::per_minute(limit));
  if (!quota) return quota.error();
  allowed += limiter.check("user:42", *quota).allowed() ? 1 : 0;
  return allowed;
}
