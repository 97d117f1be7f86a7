#include "replay/run/reorder_buffer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::replay {
namespace {

Instant at_ms(std::int64_t ms) { return Instant{std::chrono::milliseconds{ms}}; }

TEST(ReorderBuffer, KeepsASecondUntilAllOfItIsBeforeTheTime) {
  ReorderBuffer buffer;
  buffer.push({.time = at_ms(1500)}, {});
  ReorderBuffer::Batch batch;
  EXPECT_FALSE(buffer.take(at_ms(1999), batch));
  EXPECT_TRUE(buffer.take(at_ms(2000), batch));
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_TRUE(buffer.is_empty());
  EXPECT_EQ(buffer.bytes(), 0U);
}

RC_GTEST_PROP(ReorderBuffer, ReturnsAllRequestsInOrder, ()) {
  const auto times =
      *rc::gen::container<std::vector<std::uint16_t>>(rc::gen::arbitrary<std::uint16_t>());
  ReorderBuffer buffer;
  std::vector<RequestOrder> expected;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const RequestOrder order{
        .time = at_ms(times[i]), .input = static_cast<std::uint32_t>(i % 3), .line = i};
    const std::string value(i % 50, static_cast<char>('a' + i % 26));
    const std::vector<rules::Attribute> attributes{{.name = "path", .value = value},
                                                   {.name = "empty", .value = ""}};
    buffer.push(order, attributes);
    expected.push_back(order);
  }
  std::sort(expected.begin(), expected.end());
  std::vector<RequestOrder> taken;
  ReorderBuffer::Batch batch;
  while (buffer.take(Instant::max(), batch)) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      taken.push_back(batch.order(i));
      std::vector<rules::Attribute> attributes;
      batch.attributes(i, attributes);
      RC_ASSERT(attributes.size() == 2U);
      RC_ASSERT(attributes[0].value.size() == batch.order(i).line % 50);
      RC_ASSERT(attributes[1].name == "empty");
    }
  }
  RC_ASSERT(taken == expected);
  RC_ASSERT(buffer.bytes() == 0U);
}

}  // namespace
}  // namespace penstock::replay
