#include "gateway/proxy/access_log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::gateway {
namespace {

AccessEntry entry() {
  return {.time = Instant{std::chrono::seconds{1'800'000'000}},
          .client = "192.0.2.1",
          .method = "GET",
          .target = "/a?\"b",
          .host = "a.example",
          .referer = "",
          .agent = "curl\n/8",
          .upstream = "app",
          .decision = "within_limits",
          .status = 200,
          .bytes = 12,
          .took = std::chrono::microseconds{34}};
}

TEST(AccessLog, ClientInputCannotBreakALine) {
  EXPECT_EQ(combined_line(entry()),
            "192.0.2.1 - - [15/Jan/2027:08:00:00 +0000] \"GET /a?\\x22b HTTP/1.1\" 200 12 \"-\" "
            "\"curl\\x0A/8\"\n");
  const std::string json = json_line(entry());
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  EXPECT_NE(json.find("\"target\":\"/a?\\\"b\""), std::string::npos);
  EXPECT_NE(json.find("\"microseconds\":34"), std::string::npos);
}

}  // namespace
}  // namespace penstock::gateway
