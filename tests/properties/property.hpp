#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>
#include <string>
#include <utility>

namespace penstock::properties {

// Number of cases: `usual` in an optimised build, multiplied by PENSTOCK_STEPS, fewer in slow
// builds.
[[nodiscard]] int cases(int usual);

// Checks a property in cases(usual) random cases. A failure prints the shrunk counterexample and
// RC_PARAMS to reproduce it; the seed is printed at the start.
template <class Testable>
void check_property(int usual, Testable&& testable) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(test->test_suite_name()) + "/" + test->name();
  metadata.description = test->name();
  const rc::detail::Configuration& configuration = rc::detail::configuration();
  rc::detail::TestParams params = configuration.testParams;
  params.maxSuccess = cases(usual);
  const auto result = rc::detail::checkTestable(std::forward<Testable>(testable), metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  FAIL() << message.str() << "\nseed=" << params.seed;
}

}  // namespace penstock::properties
