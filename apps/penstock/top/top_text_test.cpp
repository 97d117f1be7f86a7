#include "apps/penstock/top/top_text.hpp"

#include <gtest/gtest.h>

namespace penstock::app {
namespace {

TEST(TopText, HasOneLineForEachInTheirOrder) {
  const auto rows = read_top({.status = 200, .body = R"({"by":"requests","entries":[
    {"rule":"api/search","subject":"user=7","requests":1200,"denied":30},
    {"rule":"web/all","subject":"","requests":9,"denied":0},
    {"rule":"","subject":"alice","requests":2,"denied":1}]})"});
  ASSERT_TRUE(rows);
  EXPECT_EQ(top_table(*rows),
            "requests  rule        subject\n"
            "    1200  api/search  user=7\n"
            "       9  web/all     (all)\n"
            "       2  (request)   alice\n");
  EXPECT_EQ(top_json(*rows),
            R"({"by":"requests","entries":[{"rule":"api/search","subject":"user=7","count":1200},)"
            R"({"rule":"web/all","subject":"","count":9},{"rule":"","subject":"alice","count":2}]})"
            "\n");
}

TEST(TopText, ShowsThatThereAreNoEntries) {
  const auto rows = read_top({.status = 200, .body = R"({"by":"denied","entries":[]})"});
  ASSERT_TRUE(rows);
  EXPECT_EQ(top_table(*rows), "denied  rule  subject\nNo recent denials.\n");
  EXPECT_EQ(top_table({.by = "requests"}), "requests  rule  subject\nNo recent requests.\n");
}

TEST(TopText, KeepsControlCharactersFromTheTerminal) {
  const std::string table =
      top_table({.by = "requests", .rows = {{.rule = "a/b", .subject = "x\x1b[2J\ny\x7f"}}});
  EXPECT_NE(table.find("x?[2J?y?\n"), std::string::npos);
}

TEST(TopText, AMalformedAnswerIsAnError) {
  EXPECT_EQ(read_top({.status = 404, .body = R"({"detail":"no page at \"/top\""})"}).error(),
            (Error{ErrorCode::InvalidInput, "no page at \"/top\""}));
  for (const char* body :
       {"", "[]", "{}", R"({"entries":7})", R"({"by":"requests","entries":7})",
        R"({"by":"requests","entries":[{"rule":"a"}]})",
        R"({"by":"requests","entries":[{"rule":1,"subject":"","requests":1,"denied":0}]})",
        R"({"by":"requests","entries":[{"rule":"","subject":"","requests":"x","denied":0}]})"}) {
    const auto rows = read_top({.status = 200, .body = body});
    ASSERT_FALSE(rows) << body;
    EXPECT_EQ(rows.error().code, ErrorCode::Protocol) << body;
  }
}

}  // namespace
}  // namespace penstock::app
