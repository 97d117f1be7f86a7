#include "wire/http/server/request_reader.hpp"

#include "http_server/malformed_requests.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {
namespace {

using Progress = RequestReader::Progress;
using Seen = std::vector<std::string>;

// A request in words, to compare.
std::string shown(RequestReader& reader) {
  const Request& request = reader.request();
  std::string text(request.method);
  text += " " + std::string(request.path) + " ?" + std::string(request.query);
  for (const Field& field : request.fields) {
    text += " [" + std::string(field.name) + "=" + std::string(field.value) + "]";
  }
  text += " {" + std::string(request.body) + "}";
  return text + (reader.keeps_alive() ? "" : " close");
}

// Takes all requests; false when nothing more can come.
bool drain(RequestReader& reader, Seen& seen) {
  while (true) {
    switch (reader.next()) {
      case Progress::NeedMore: return true;
      case Progress::SendContinue: seen.emplace_back("continue"); break;
      case Progress::Ready: seen.push_back(shown(reader)); break;
      case Progress::Invalid:
        seen.push_back(std::to_string(reader.error().status) + ": " +
                       std::string(reader.error().detail));
        return false;
    }
  }
}

// Reads bytes in portions of these sizes; the last one is repeated.
Seen read_split(std::string_view bytes, const std::vector<std::size_t>& portions,
                ReaderLimits limits = {}) {
  RequestReader reader(limits);
  Seen seen;
  std::size_t turn = 0;
  while (!bytes.empty()) {
    const std::span<char> room = reader.prepare();
    EXPECT_FALSE(room.empty());
    const std::size_t wanted = portions.empty() ? bytes.size() : portions[turn];
    if (turn + 1 < portions.size()) ++turn;
    const std::size_t size = std::min({wanted, bytes.size(), room.size()});
    std::copy_n(bytes.begin(), size, room.begin());
    reader.commit(size);
    bytes.remove_prefix(size);
    if (!drain(reader, seen)) break;
  }
  return seen;
}

Seen read(std::string_view bytes, ReaderLimits limits = {}) {
  return read_split(bytes, {}, limits);
}

TEST(RequestReader, ReadsARequest) {
  EXPECT_EQ(read("GET /a/b?c=d&e HTTP/1.1\r\nHost: x\r\nAccept:  text/plain \r\n\r\n"),
            (Seen{"GET /a/b ?c=d&e [Host=x] [Accept=text/plain] {}"}));
}

TEST(RequestReader, ReadsBodiesOfBothKinds) {
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"),
            (Seen{"POST / ? [Host=x] [Content-Length=5] {hello}"}));
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
                 "2\r\nhe\r\n3;name=value\r\nllo\r\n0\r\nTrailer: dropped\r\n\r\n"),
            (Seen{"POST / ? [Host=x] [Transfer-Encoding=Chunked] {hello}"}));
}

// Fails with assertions enabled only, as in the sanitizer builds.
TEST(RequestReader, ReadsALastChunkHoweverItIsSplit) {
  const std::string header = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string body : {"0\r\n\r\n", "00\r\n\r\n", "0\r\nA: b\r\n\r\n"}) {
    const std::size_t bytes = body.size();
    for (std::size_t first = 1; first < bytes; ++first) {
      EXPECT_EQ(read_split(header + body, {header.size(), first, 1}),
                (Seen{"POST / ? [Host=x] [Transfer-Encoding=chunked] {}"}))
          << body << " after " << first << " bytes";
    }
  }
  EXPECT_EQ(read_split(header + "4\r\n0\r\n1\r\n0\r\n\r\n", {header.size(), 3, 4, 7}),
            (Seen{"POST / ? [Host=x] [Transfer-Encoding=chunked] {0\r\n1}"}));
}

TEST(RequestReader, ReadsPipelinedRequestsInOrder) {
  EXPECT_EQ(read("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
                 "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
                 "\r\nGET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            (Seen{"GET /1 ? [Host=x] {}", "POST /2 ? [Host=x] [Content-Length=2] {ab}",
                  "GET /3 ? [Host=x] [Connection=close] {} close"}));
}

TEST(RequestReader, KeepsConnectionsOfHttp10OnlyWhenAsked) {
  EXPECT_EQ(read("GET / HTTP/1.0\r\n\r\n"), (Seen{"GET / ? {} close"}));
  EXPECT_EQ(read("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            (Seen{"GET / ? [Connection=keep-alive] {}"}));
}

TEST(RequestReader, UnderstandsAbsoluteTargets) {
  EXPECT_EQ(read("GET http://x:80/a?b HTTP/1.1\r\nHost: x\r\n\r\n"),
            (Seen{"GET /a ?b [Host=x] {}"}));
  EXPECT_EQ(read("GET http://x HTTP/1.1\r\nHost: x\r\n\r\n"), (Seen{"GET / ? [Host=x] {}"}));
  EXPECT_EQ(read("GET http://x?q HTTP/1.1\r\nHost: x\r\n\r\n"), (Seen{"GET / ?q [Host=x] {}"}));
  EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"), (Seen{"OPTIONS * ? [Host=x] {}"}));
}

TEST(RequestReader, SendsContinueForABodyThatIsHeldBack) {
  const std::string header =
      "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  const std::string whole = "POST / ? [Host=x] [Expect=100-continue] [Content-Length=2] {ab}";
  EXPECT_EQ(read_split(header + "ab", {header.size(), 1}), (Seen{"continue", whole}));
  EXPECT_EQ(read(header + "ab"), (Seen{whole}));
}

TEST(RequestReader, RejectsEveryMalformedRequestHoweverItIsSplit) {
  for (const auto& malformed : http_server::kMalformedRequests) {
    const std::string bytes = std::string(malformed.bytes) + "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    const Seen whole = read(bytes);
    ASSERT_EQ(whole.size(), 1U) << malformed.what << ": " << testing::PrintToString(whole);
    EXPECT_EQ(whole[0].substr(0, 5), std::to_string(malformed.status) + ": ") << malformed.what;
    EXPECT_EQ(read_split(bytes, {1}), whole) << malformed.what;
  }
}

TEST(RequestReader, StaysInvalidAfterAnError) {
  RequestReader reader({});
  const std::string_view bytes = "GET / HTTP/1.1\n";
  std::copy(bytes.begin(), bytes.end(), reader.prepare().begin());
  reader.commit(bytes.size());
  EXPECT_EQ(reader.next(), Progress::Invalid);
  EXPECT_EQ(reader.next(), Progress::Invalid);
}

TEST(RequestReader, RejectsHeadersBeyondTheLimitAndAcceptsThoseAtIt) {
  const std::string start = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
  const ReaderLimits limits{.header_bytes = 4000};
  const std::string fits = start + std::string(4000 - start.size() - 4, 'x') + "\r\n\r\n";
  const std::string refused = "431: the header is larger than";
  EXPECT_EQ(read(fits, limits).at(0).substr(0, 3), "GET");
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: xx" + fits.substr(23), limits), (Seen{refused}));
  EXPECT_EQ(read(std::string(100'000, 'x'), limits), (Seen{refused}));
}

TEST(RequestReader, RejectsTooManyFields) {
  std::string header = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 99; ++i) header += "a: b\r\n";
  EXPECT_EQ(read(header + "\r\n").at(0).substr(0, 3), "GET");
  EXPECT_EQ(read(header + "a: b\r\n\r\n"), (Seen{"431: the header has more than 100 fields"}));
}

TEST(RequestReader, RejectsALongBodyAsSoonAsItIsAnnounced) {
  const ReaderLimits limits{.body_bytes = 10};
  const Seen refused{"413: the body is larger than"};
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", limits), refused);
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                 "Content-Length: 11\r\n\r\n",
                 limits),
            refused);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(read(chunked + "b\r\n", limits), refused);
  EXPECT_EQ(read(chunked + "6\r\nabcdef\r\n5\r\n", limits), refused);
  EXPECT_EQ(read(chunked + "6\r\nabcdef\r\n4\r\nghij\r\n0\r\n\r\n", limits).at(0).substr(0, 4),
            "POST");
}

TEST(RequestReader, RejectsAChunkLineWithoutEnd) {
  const ReaderLimits limits{.header_bytes = 4000};
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Seen refused{"400: the line of a chunk, or the trailer, is longer than allowed"};
  EXPECT_EQ(read(chunked + "1;" + std::string(5000, 'x') + "\r\n", limits), refused);
  EXPECT_EQ(read_split(chunked + "1;" + std::string(5000, 'x') + "\r\n", {1}, limits), refused);
  EXPECT_EQ(read(chunked + "0\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", limits), refused);
}

TEST(RequestReader, ReadsALongBodyInPortions) {
  const std::string body(300'000, 'b');
  const std::string header = "POST /p?q HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n";
  const Seen expected{"POST /p ?q [Host=x] [Content-Length=300000] {" + body + "}",
                      "GET / ? [Host=x] {}"};
  const std::string bytes = header + body + "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(read(bytes), expected);
  EXPECT_EQ(read_split(bytes, {10, 1000, 777}), expected);
}

TEST(RequestReader, ReportsTheStageOfTheNextRequest) {
  using Stage = RequestReader::Stage;
  RequestReader reader({});
  const auto feed = [&](std::string_view bytes) {
    std::copy(bytes.begin(), bytes.end(), reader.prepare().begin());
    reader.commit(bytes.size());
    return reader.next();
  };
  EXPECT_EQ(reader.stage(), Stage::Nothing);
  EXPECT_EQ(feed("POST / HTTP/1.1\r\n"), Progress::NeedMore);
  EXPECT_EQ(reader.stage(), Stage::Header);
  EXPECT_EQ(feed("Host: x\r\nContent-Length: 2\r\n\r\na"), Progress::NeedMore);
  EXPECT_EQ(reader.stage(), Stage::Body);
  EXPECT_EQ(feed("bGE"), Progress::Ready);
  EXPECT_EQ(reader.next(), Progress::NeedMore);
  EXPECT_EQ(reader.stage(), Stage::Header);
}

// A request that is nearly valid: the result depends on details of its bytes.
rc::Gen<std::string> almost_requests() {
  const auto piece = rc::gen::element<std::string>(
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST /x?y HTTP/1.1\r\n", "Host: a\r\n", "\r\n", "\r",
      "\n", " ", "Content-Length: 3\r\n\r\nabc", "Content-Length: 3\r\n", "\r\nabc",
      "HEAD / HTTP/1.0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n", "0\r\n\r\n",
      "0\r\nT: x\r\n\r\n", "5;a=b\r\n", "Connection: close\r\n", "x",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", std::string(200, 'h'));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string all;
                        for (const std::string& one : pieces) all += one;
                        return all;
                      });
}

RC_GTEST_PROP(RequestReader, AnySplitOfTheBytesReadsAlike, ()) {
  const std::string bytes = *almost_requests();
  const auto portions = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 40)));
  const ReaderLimits limits{.header_bytes = 300, .body_bytes = 20};
  const Seen whole = read(bytes, limits);
  RC_TAG(whole.size());
  RC_ASSERT(read_split(bytes, portions, limits) == whole);
}

}  // namespace
}  // namespace penstock::http
