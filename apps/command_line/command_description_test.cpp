#include "apps/command_line/command_description.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::app {
namespace {

class CommandDescriptionTest : public testing::Test {
 protected:
  CommandDescriptionTest() {
    app_.set_help_flag("-h,--help", "Print this help and exit");
    CLI::App* check = app_.add_subcommand("check", "Decide");
    check->add_option("KEY", key_, "The client")->required()->type_name("");
    check->add_option("--kind", kind_, "Which")->capture_default_str()->type_name("api|login");
    check->add_option("--ca", ca_, "A file")->type_name("FILE")->envname("CA_FILE");
    check->add_flag("--json", json_, "Print JSON");
    check->footer("Examples");
    app_.add_subcommand("worker", "")->group("");
  }

  std::string key_;
  std::string kind_ = "api";
  std::string ca_;
  bool json_ = false;
  CLI::App app_{"A program.", "tool"};
};

TEST_F(CommandDescriptionTest, OmitsHiddenCommands) {
  const CommandDescription described = describe(app_);
  ASSERT_EQ(described.commands.size(), 1U);
  EXPECT_EQ(described.commands[0].name, "check");
  EXPECT_EQ(described.commands[0].footer, "Examples");
}

TEST_F(CommandDescriptionTest, HasOptionsWithTheirValues) {
  const CommandDescription check = describe(app_).commands[0];
  ASSERT_EQ(check.options.size(), 5U);
  EXPECT_EQ(check.options[0].names, (std::vector<std::string>{"--help", "-h"}));
  EXPECT_EQ(check.options[0].value, "");
  const OptionDescription& key = check.options[1];
  EXPECT_TRUE(key.positional && key.required);
  EXPECT_EQ(key.names, std::vector<std::string>{"KEY"});
  const OptionDescription& kind = check.options[2];
  EXPECT_EQ(kind.choices(), (std::vector<std::string>{"api", "login"}));
  EXPECT_EQ(kind.default_value, "api");
  EXPECT_TRUE(check.options[3].is_file());
  EXPECT_EQ(check.options[3].variable, "CA_FILE");
  EXPECT_TRUE(check.options[3].choices().empty());
  EXPECT_EQ(check.options[4].value, "");
}

TEST(CommandDescription, NestedCommandsHaveTheirPath) {
  CLI::App app{"a program", "program"};
  CLI::App* parent = app.add_subcommand("override", "changes");
  parent->add_subcommand("set", "sets");
  app.add_subcommand("top", "shows");
  std::string names;
  for (const CommandDescription& command : with_nested(describe(app).commands)) {
    names += command.name + ";";
  }
  EXPECT_EQ(names, "override;override set;top;");
}

}  // namespace
}  // namespace penstock::app
