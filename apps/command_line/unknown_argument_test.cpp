#include "apps/command_line/program.hpp"

#include <gtest/gtest.h>

namespace penstock::app {
namespace {

class UnknownArgument : public testing::Test {
 protected:
  UnknownArgument() {
    app_.add_subcommand("demo");
    app_.add_subcommand("check")->add_option("--limit");
    app_.add_subcommand("worker")->group("");
  }

  CLI::App app_;
};

TEST_F(UnknownArgument, SuggestsTheSubcommandThatWasMeant) {
  EXPECT_EQ(describe_unknown(app_, "chekc"), "unknown subcommand \"chekc\"; did you mean check?");
  EXPECT_EQ(describe_unknown(app_, "frobnicate"), "unknown subcommand \"frobnicate\"");
}

TEST_F(UnknownArgument, SuggestsNoHiddenSubcommand) {
  EXPECT_EQ(describe_unknown(app_, "workr"), "unknown subcommand \"workr\"");
}

TEST_F(UnknownArgument, SuggestsTheOptionThatWasMeant) {
  const CLI::App& check = *app_.get_subcommand("check");
  EXPECT_EQ(describe_unknown(check, "--limt=5/s"),
            "unknown option \"--limt\"; did you mean --limit?");
  EXPECT_EQ(describe_unknown(check, "bob"), "unknown argument \"bob\"");
}

}  // namespace
}  // namespace penstock::app
