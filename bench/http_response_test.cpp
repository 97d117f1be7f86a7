#include "bench/http_response.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::bench {
namespace {

const std::string kAnswer =
    "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 5\r\nConnection: close\r\n\r\nhello";

TEST(HttpResponse, ReadsStatusLengthAndWhetherItIsTheLast) {
  const HttpRead read = read_response(kAnswer + "HTTP/1.1 200");
  EXPECT_EQ(read.state, ReadState::Complete);
  EXPECT_EQ(read.response.status, 429U);
  EXPECT_EQ(read.response.bytes, kAnswer.size());
  EXPECT_TRUE(read.response.closes);
}

TEST(HttpResponse, IsIncompleteUntilTheLastByte) {
  for (std::size_t size = 0; size < kAnswer.size(); ++size) {
    EXPECT_EQ(read_response(kAnswer.substr(0, size)).state, ReadState::Incomplete) << size;
  }
}

TEST(HttpResponse, RejectsWhatIsNotHttp) {
  EXPECT_EQ(read_response("SSH-2.0-OpenSSH\r\n\r\n").state, ReadState::Malformed);
  EXPECT_EQ(read_response("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n").state,
            ReadState::Malformed);
}

}  // namespace
}  // namespace penstock::bench
