#include "redis/script.hpp"

#include "resp/command.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

TEST(Script, IsIdentifiedByTheSha1OfItsText) {
  EXPECT_EQ(Script::from("").sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(Script::from("return 1").sha1, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

TEST(Script, AnEvalshaBecomesAnEvalWithTheSameArguments) {
  const Script script = Script::from("return ARGV[1]");
  const std::string evalsha = resp::command({"EVALSHA", script.sha1, "1", "key", "a\r\nb"});
  EXPECT_EQ(with_script_text(evalsha, script),
            resp::command({"EVAL", script.text, "1", "key", "a\r\nb"}));
}

TEST(Script, OtherCommandsAreNotConverted) {
  const Script script = Script::from("return 1");
  const Script other = Script::from("return 2");
  EXPECT_EQ(with_script_text(resp::command({"EVALSHA", other.sha1, "0"}), script), std::nullopt);
  EXPECT_EQ(with_script_text(resp::command({"PING"}), script), std::nullopt);
  EXPECT_EQ(with_script_text("", script), std::nullopt);
}

}  // namespace
}  // namespace penstock::redis
