#include "rules/yaml/yaml_reader.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

struct Read {
  Diagnostics diagnostics;
  std::unique_ptr<const YamlDocument> document;

  explicit Read(std::string_view text)
      : document(YamlDocument::parse(text, "f.yaml", diagnostics)) {}
  YamlNode root() const { return YamlNode(*document); }
  std::string diagnostics_text() const {
    std::string all;
    for (const Diagnostic& diagnostic : diagnostics) all += to_string(diagnostic) + "\n";
    return all;
  }
};

TEST(YamlReader, ReturnsTypedValuesWithPositions) {
  const Read read("a: 10ms\nb: [1, 2_000]\nc: {d: yes}\n");
  ASSERT_NE(read.document, nullptr);
  constexpr std::array<std::string_view, 3> known{"a", "b", "c"};
  const YamlFields fields(read.root(), known);
  EXPECT_EQ(fields.find("a")->duration(1ms, 1s), Duration(10ms));
  const std::vector<YamlNode> list = fields.find("b")->list();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].integer(0, 5000), 2000);
  EXPECT_EQ(list[1].position().line, 2U);
  EXPECT_EQ(list[1].position().column, 8U);
  EXPECT_EQ(fields.find("c")->entries().at(0).value.boolean(), true);
  EXPECT_EQ(read.diagnostics_text(), "");
}

TEST(YamlReader, ReportsErrorsWithPositionValueAndExpectation) {
  const Read read(
      "limt: 1\nlimit: many\ntime: 5 parsecs\nflag: \"true\"\nlist: 3\nlimit: 4\nmode: opne\n");
  constexpr std::array<std::string_view, 5> known{"limit", "time", "flag", "list", "mode"};
  const YamlFields fields(read.root(), known);
  EXPECT_FALSE(fields.find("limit")->integer(1, 9));
  EXPECT_FALSE(fields.find("time")->duration(1ms, 24h));
  EXPECT_FALSE(fields.find("flag")->boolean());
  EXPECT_TRUE(fields.find("list")->list().empty());
  EXPECT_FALSE(fields.find("mode")->choice<int>({{"open", 1}, {"closed", 2}, {"local", 3}}));
  EXPECT_EQ(read.diagnostics_text(),
            "f.yaml:6:1: error: key 'limit' a second time; first in line 2\n"
            "f.yaml:1:1: error: unknown key 'limt'; did you mean 'limit'?\n"
            "f.yaml:2:8: error: limit: expected a whole number from 1 to 9, found \"many\"\n"
            "f.yaml:3:7: error: time: expected a time such as 250ms, 10s, 5m, 2h or 1d, from 1ms "
            "to 1d, found \"5 parsecs\"\n"
            "f.yaml:4:7: error: flag: expected true or false, found \"true\"\n"
            "f.yaml:5:7: error: list: expected a list, found \"3\"\n"
            "f.yaml:7:7: error: mode: expected one of open, closed or local, found \"opne\"; did "
            "you mean 'open'?\n");
}

TEST(YamlReader, SyntaxErrorsHaveAPosition) {
  const Read read("a: 1\nb: [1, 2\n");
  EXPECT_EQ(read.document, nullptr);
  EXPECT_EQ(read.diagnostics_text(),
            "f.yaml:3:1: error: not YAML: end of sequence flow not found\n");
}

TEST(YamlReader, FollowsAliasesAndMerges) {
  const Read read("base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\n");
  ASSERT_NE(read.document, nullptr);
  const YamlNode more = read.root().entries().at(1).value;
  ASSERT_EQ(more.entries().size(), 2U);
  EXPECT_EQ(more.entries()[0].value.raw(), "3");
  EXPECT_EQ(more.entries()[1].value.raw(), "1");
}

TEST(YamlReader, RejectsAliasBombs) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    const std::string now = "a" + std::to_string(i);
    bomb.append(now).append(": &").append(now).append(" [");
    for (int j = 0; j < 10; ++j) bomb.append(j == 0 ? "" : ", ").append(last);
    bomb += "]\n";
  }
  const Read read(bomb);
  EXPECT_EQ(read.document, nullptr);
  EXPECT_NE(read.diagnostics_text().find("once its aliases are followed"), std::string::npos);
}

TEST(YamlReader, RejectsRecursiveAliases) {
  EXPECT_EQ(Read("a: &a [*a]\n").diagnostics_text(),
            "f.yaml:1:8: error: an alias of what it is part of\n");
}

TEST(YamlReader, RejectsDeepNesting) {
  for (const std::size_t depth : {100U, 100'000U}) {
    for (const std::string_view opening : {"[", "{a: ", "- ", "? "}) {
      std::string text;
      for (std::size_t i = 0; i < depth; ++i) text += opening;
      const Read read(text);
      EXPECT_EQ(read.document, nullptr) << depth << opening;
      EXPECT_NE(read.diagnostics_text().find("nested"), std::string::npos)
          << depth << opening << read.diagnostics_text();
    }
  }
}

TEST(YamlReader, RejectsHugeTexts) {
  const Read read(std::string(YamlDocument::kMaxBytes + 1, ' '));
  EXPECT_EQ(read.diagnostics_text(),
            "f.yaml: error: 67108865 bytes; a file may have 67108864 at most\n");
}

TEST(YamlReader, BoundsTheNumberOfDiagnostics) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const Read read(text);
  const YamlFields fields(read.root(), {});
  EXPECT_EQ(read.diagnostics.size(), kMaxDiagnostics + 1);
}

TEST(YamlReader, AnEmptyFileIsNullAndASecondDocumentIsRejected) {
  EXPECT_TRUE(Read("# only a comment\n").root().is_nothing());
  EXPECT_EQ(Read("a: 1\n---\nb: 2\n").diagnostics_text(),
            "f.yaml:2:1: error: a second document; a file holds one only\n");
}

}  // namespace
}  // namespace penstock::rules
