#include "http/response_text.hpp"

#include "http/message.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::http {
namespace {

std::string written(const Response& response,
                    ConnectionHeader connection_header = ConnectionHeader::Omitted,
                    BodyPart part = BodyPart::Sent) {
  std::string out = "before|";
  append_response(out, response, "Date: now\r\n", connection_header, part);
  return out;
}

TEST(ResponseText, HasStatusDateFieldsLengthAndBody) {
  EXPECT_EQ(written({.status = 429, .fields = {{"Retry-After", "3"}}, .body = "no\n"}),
            "before|HTTP/1.1 429 Too Many Requests\r\nDate: now\r\nRetry-After: 3\r\n"
            "Content-Length: 3\r\n\r\nno\n");
}

TEST(ResponseText, SaysWhatHappensToTheConnection) {
  EXPECT_NE(written({}, ConnectionHeader::Close).find("\r\nConnection: close\r\n"),
            std::string::npos);
  EXPECT_NE(written({}, ConnectionHeader::KeepAlive).find("\r\nConnection: keep-alive\r\n"),
            std::string::npos);
  EXPECT_EQ(written({}, ConnectionHeader::Omitted).find("Connection"), std::string::npos);
}

TEST(ResponseText, OmitsTheBodyOfHeadButNotItsLength) {
  const std::string text = written({.body = "hello"}, ConnectionHeader::Omitted, BodyPart::Omitted);
  EXPECT_NE(text.find("Content-Length: 5\r\n\r\n"), std::string::npos);
  EXPECT_EQ(text.find("hello"), std::string::npos);
}

TEST(ResponseText, SendsNeitherBodyNorLengthWhereThereIsNone) {
  for (const unsigned status : {204U, 304U}) {
    const std::string text = written({.status = status, .body = "hello"});
    EXPECT_EQ(text.find("Content-Length"), std::string::npos);
    EXPECT_EQ(text.find("hello"), std::string::npos);
  }
}

RC_GTEST_PROP(ResponseText, NoFieldCanEndItsLine,
              (const std::string& name, const std::string& value)) {
  const std::string text = written({.fields = {{name, value}}});
  RC_ASSERT(std::count(text.begin(), text.end(), '\n') == 5);
  RC_ASSERT(std::count(text.begin(), text.end(), '\r') == 5);
}

TEST(HttpErrorResponse, IsAProblemDocument) {
  const Response response =
      to_response({431, "the header is larger than", 16384, "server.max_header_bytes"});
  EXPECT_EQ(response.status, 431U);
  EXPECT_EQ(response.fields.at(0).second, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"about:blank","title":"Request Header Fields Too Large","status":431,)"
            R"x("detail":"the header is larger than 16384 bytes (server.max_header_bytes)"})x"
            "\n");
}

TEST(DateHeader, IsWrittenAsHttpWantsIt) {
  DateHeader date;
  EXPECT_EQ(date.at(Instant{std::chrono::seconds{784'111'777}}),
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(date.at(Instant{std::chrono::milliseconds{784'111'777'999}}),
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(date.at(Instant{std::chrono::seconds{951'825'600}}),
            "Date: Tue, 29 Feb 2000 12:00:00 GMT\r\n");
  EXPECT_EQ(DateHeader().at(Instant{}), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
}

}  // namespace
}  // namespace penstock::http
