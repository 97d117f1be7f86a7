#include "net/constant_time_equal.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::net {
namespace {

RC_GTEST_PROP(ConstantTimeEqualProperty, MatchesOnlyTheSecretItself,
              (const std::string& text, const std::string& secret)) {
  RC_ASSERT(constant_time_equal(text, secret) == (text == secret));
  RC_ASSERT(constant_time_equal(secret, secret));
}

RC_GTEST_PROP(ConstantTimeEqualAnyProperty, MatchesOnlyListedSecrets,
              (const std::string& text, const std::vector<std::string>& secrets)) {
  const bool is_listed = std::find(secrets.begin(), secrets.end(), text) != secrets.end();
  RC_ASSERT(constant_time_equal_any(text, secrets) == is_listed);
  for (const std::string& secret : secrets) RC_ASSERT(constant_time_equal_any(secret, secrets));
}

}  // namespace
}  // namespace penstock::net
