#include "rules/model/value_maps.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

std::string diagnostics_text(const Diagnostics& diagnostics) {
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics) all += to_string(diagnostic) + "\n";
  return all;
}

TEST(ValueMaps, ReadsCsv) {
  Diagnostics diagnostics;
  const ValueMap map = parse_csv_map(
      "# key,value\nabc,gold\r\n\n\"a,b\",\"say \"\"hi\"\"\"\nempty,\nlast,5/minute burst 2",
      "m.csv", diagnostics);
  EXPECT_EQ(diagnostics_text(diagnostics), "");
  EXPECT_EQ(
      map,
      (ValueMap{
          {"abc", "gold"}, {"a,b", "say \"hi\""}, {"empty", ""}, {"last", "5/minute burst 2"}}));
}

TEST(ValueMaps, RejectsMalformedCsvLines) {
  Diagnostics diagnostics;
  static_cast<void>(
      parse_csv_map("a\nb,c,d\n,x\n\"q,r\nk,1\nk,2\n\"a\"b,c\n", "m.csv", diagnostics));
  EXPECT_EQ(diagnostics_text(diagnostics),
            "m.csv:1:1: error: expected a line key,value, found \"a\"\n"
            "m.csv:2:1: error: expected a line key,value, found \"b,c,d\"\n"
            "m.csv:3:1: error: expected a line key,value, found \",x\"\n"
            "m.csv:4:1: error: expected a line key,value, found \"\"q,r\"\n"
            "m.csv:6:1: error: key 'k' a second time\n"
            "m.csv:7:1: error: expected a line key,value, found \"\"a\"b,c\"\n");
}

TEST(ValueMaps, ReadsAnyYamlMap) {
  Diagnostics diagnostics;
  EXPECT_EQ(parse_yaml_map("---\n'a b': \"x\" # why\n{}: 1\n", "m.yaml", diagnostics).size(), 1U);
  EXPECT_EQ(diagnostics_text(diagnostics),
            "m.yaml:3:1: error: expected a text as key, found a map\n");
}

// The fast path for simple lines must agree with the YAML parser.
RC_GTEST_PROP(ValueMaps, TheShortCutReadsWhatYamlReads, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "a", "b", "null", "~", "0x1", "1.5", ": ", ": ", ": ", ":", " ", "\n", "\n", "\n", "\r\n",
      "#", " #", "-", "- ", "---", "...", "/", "@", "%", "&x", "*", "'", "\"", "\t", "<<", "[", "{",
      "?"));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  Diagnostics quick;
  Diagnostics full;
  const ValueMap map = parse_yaml_map(text, "m.yaml", quick);
  RC_ASSERT(map == parse_any_yaml_map(text, "m.yaml", full));
  RC_ASSERT(diagnostics_text(quick) == diagnostics_text(full));
}

RC_GTEST_PROP(ValueMaps, TheShortCutReadsSimpleLinesAsYamlDoes, ()) {
  std::string text;
  const auto word =
      rc::gen::element<std::string>("a", "b2", "null", "yes", "5/minute burst 2", "1.5", "c d",
                                    "e-f", "---", "g@h.i", "-", "~", "j ");
  const int lines = *rc::gen::inRange(0, 12);
  for (int i = 0; i < lines; ++i) text += *word + ": " + *word + "\n";
  Diagnostics quick;
  Diagnostics full;
  RC_ASSERT(parse_yaml_map(text, "m.yaml", quick) == parse_any_yaml_map(text, "m.yaml", full));
  RC_ASSERT(diagnostics_text(quick) == diagnostics_text(full));
}

}  // namespace
}  // namespace penstock::rules
