#include "apps/penstock/init/default_configuration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::app {
namespace {

// Files of the source tree.
constexpr const char* kPresent = PENSTOCK_SOURCE_DIR "/packaging/penstock.yaml";
constexpr const char* kOther = PENSTOCK_SOURCE_DIR "/examples/penstock.yaml";
constexpr const char* kAbsent = PENSTOCK_SOURCE_DIR "/no-such-file.yaml";

TEST(DefaultConfiguration, IsTheFirstThatExists) {
  EXPECT_EQ(find_configuration(std::array{kPresent, kOther}).value(), kPresent);
  EXPECT_EQ(find_configuration(std::array{kAbsent, kOther}).value(), kOther);
}

TEST(DefaultConfiguration, IsTheWorkingDirectoryBeforeTheSystem) {
  EXPECT_EQ(std::string(kDefaultConfigurations[0]), "./penstock.yaml");
  EXPECT_EQ(std::string(kDefaultConfigurations[1]), "/etc/penstock/penstock.yaml");
}

TEST(DefaultConfiguration, TheErrorNamesEveryCandidate) {
  const auto found = find_configuration(std::array{kAbsent, "/also/absent.yaml"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::InvalidInput);
  for (const char* words : {kAbsent, "/also/absent.yaml", "penstock init", "--config"}) {
    EXPECT_NE(found.error().detail.find(words), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace penstock::app
