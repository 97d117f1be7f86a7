#include "net/secret.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::net {
namespace {

RC_GTEST_PROP(IsSecretProperty, OnlyTheSecretItself,
              (const std::string& text, const std::string& secret)) {
  RC_ASSERT(is_secret(text, secret) == (text == secret));
  RC_ASSERT(is_secret(secret, secret));
}

RC_GTEST_PROP(IsAnySecretProperty, OnlyThoseOfTheList,
              (const std::string& text, const std::vector<std::string>& secrets)) {
  const bool is_listed = std::find(secrets.begin(), secrets.end(), text) != secrets.end();
  RC_ASSERT(is_any_secret(text, secrets) == is_listed);
  for (const std::string& secret : secrets) RC_ASSERT(is_any_secret(secret, secrets));
}

}  // namespace
}  // namespace penstock::net
