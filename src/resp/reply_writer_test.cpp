#include "resp/reply_writer.hpp"

#include "resp/reply_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::resp {
namespace {

template <class Write>
std::string written(Version version, const Write& write) {
  std::string out;
  ReplyWriter writer(out, version);
  write(writer);
  return out;
}

TEST(ReplyWriter, WritesTheTypesOfBothVersions) {
  const auto all = [](ReplyWriter& writer) {
    writer.simple("OK");
    writer.error("ERR no");
    writer.integer(-7);
    writer.bulk("a\r\nb");
    writer.null();
    writer.number("1.5");
    writer.array(0);
    writer.map(1);
  };
  EXPECT_EQ(written(Version::Two, all),
            "+OK\r\n-ERR no\r\n:-7\r\n$4\r\na\r\nb\r\n$-1\r\n$3\r\n1.5\r\n*0\r\n*2\r\n");
  EXPECT_EQ(written(Version::Three, all),
            "+OK\r\n-ERR no\r\n:-7\r\n$4\r\na\r\nb\r\n_\r\n,1.5\r\n*0\r\n%1\r\n");
}

TEST(ReplyWriter, KeepsALineALine) {
  EXPECT_EQ(written(Version::Two, [](ReplyWriter& writer) { writer.error("ERR a\r\n+OK"); }),
            "-ERR a  +OK\r\n");
}

RC_GTEST_PROP(ReplyWriter, IsReadBackAsItWas,
              (const std::vector<std::int64_t>& numbers, const std::string& text)) {
  std::string out;
  ReplyWriter writer(out, Version::Two);
  writer.integers(numbers);
  writer.bulk(text);
  ReplyReader reader;
  reader.feed(out);
  const auto array = reader.next();
  RC_ASSERT(array.has_value() && array->has_value());
  RC_ASSERT((*array)->elements.size() == numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    RC_ASSERT((*array)->elements[i].integer == numbers[i]);
  }
  const auto bulk = reader.next();
  RC_ASSERT(bulk.has_value() && bulk->has_value());
  RC_ASSERT((*bulk)->text == text);
}

}  // namespace
}  // namespace penstock::resp
