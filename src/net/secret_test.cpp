#include "net/secret.hpp"

#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::net {
namespace {

RC_GTEST_PROP(IsSecretProperty, OnlyTheSecretItself,
              (const std::string& text, const std::string& secret)) {
  RC_ASSERT(is_secret(text, secret) == (text == secret));
  RC_ASSERT(is_secret(secret, secret));
}

}  // namespace
}  // namespace penstock::net
