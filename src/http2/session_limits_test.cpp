// Limits on frames that are not requests.

#include "http2/server_session.hpp"
#include "http2_client/client_session.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace penstock::http2 {
namespace {

using http2_client::ClientSession;
using std::chrono::seconds;

const http2_client::Fields kGet{
    {":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}};

// Answers everything at once.
class Answers final : public RequestEvents {
 public:
  StreamEvents* on_request(StreamId stream, const RequestHead& /*head*/) override {
    constexpr std::array kDone{static_field(":status", "200")};
    if (session != nullptr && answers) session->respond(stream, kDone);
    return nullptr;
  }
  ServerSession* session = nullptr;
  bool answers = true;
};

std::string raw_frame(unsigned type, unsigned flags, unsigned stream, const std::string& payload) {
  std::string out;
  for (const unsigned shift : {16U, 8U, 0U}) {
    out += static_cast<char>(payload.size() >> shift & 0xFFU);
  }
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(stream >> shift & 0xFFU);
  return out + payload;
}

class SessionLimits : public ::testing::Test {
 protected:
  void start(const SessionOptions& options) {
    session = std::make_unique<ServerSession>(answers, options);
    answers.session = session.get();
    client = std::make_unique<ClientSession>();
  }
  void exchange() {
    for (int rounds = 0; rounds < 100; ++rounds) {
      const std::string there = client->take_output();
      if (!there.empty() && !session->receive(there, now)) return;
      const std::string back(session->take_output());
      if (there.empty() && back.empty()) return;
      client->receive(back);
    }
  }
  // Whether the connection survives these copies of a frame within a second.
  bool survives(const std::string& bytes, int copies) {
    for (int i = 0; i < copies && !session->is_finished(); ++i) {
      static_cast<void>(session->receive(bytes, now));
      client->receive(session->take_output());
    }
    return !session->is_finished();
  }

  Answers answers{};
  std::unique_ptr<ServerSession> session{};
  std::unique_ptr<ClientSession> client{};
  base::Deadline now{seconds{1000}};
};

TEST_F(SessionLimits, ConnectionIsEstablishedWithTheSettingsOfTheClient) {
  start({});
  const std::string hello = client->take_output();
  for (const char byte : hello.substr(0, 24 + 9 - 1)) {
    ASSERT_TRUE(session->receive({&byte, 1}, now));
    EXPECT_FALSE(session->is_established());
  }
  ASSERT_TRUE(session->receive(hello.substr(24 + 9 - 1), now));
  EXPECT_TRUE(session->is_established());
}

TEST_F(SessionLimits, HeaderBlockWithoutEndIsKnown) {
  start({});
  exchange();
  EXPECT_FALSE(session->is_reading_head());
  const std::string fields(
      "\x82\x86\x84\x41\x01"
      "a",
      6);  // GET, http, /, a
  ASSERT_TRUE(session->receive(raw_frame(1, 0, 1, fields), now));
  EXPECT_TRUE(session->is_reading_head());
  EXPECT_EQ(session->requests(), 0U);
  ASSERT_TRUE(session->receive(raw_frame(9, 0, 1, ""), now));
  EXPECT_TRUE(session->is_reading_head());
  ASSERT_TRUE(session->receive(raw_frame(9, 4, 1, ""), now));
  EXPECT_FALSE(session->is_reading_head());
  EXPECT_EQ(session->requests(), 1U);
}

TEST_F(SessionLimits, InvalidHeaderBlockHasEndedToo) {
  start({});
  exchange();
  const std::string fields("\x82\x82\x86\x84", 4);  // :method twice
  ASSERT_TRUE(session->receive(raw_frame(1, 4, 1, fields), now));
  client->receive(session->take_output());
  EXPECT_FALSE(session->is_reading_head());
  EXPECT_EQ(session->requests(), 0U);
  EXPECT_FALSE(session->is_finished());
}

TEST_F(SessionLimits, OnlyRequestsCountAsRequests) {
  start({});
  exchange();
  client->ping();
  exchange();
  ASSERT_TRUE(session->receive(raw_frame(0xBB, 0, 0, "?"), now));
  EXPECT_EQ(session->requests(), 0U);
  client->request(kGet, "");
  exchange();
  EXPECT_EQ(session->requests(), 1U);
}

TEST_F(SessionLimits, FloodsOfEveryKindOfFrameEndTheConnection) {
  const std::string settings = raw_frame(4, 0, 0, "");
  const std::string ping = raw_frame(6, 0, 0, "12345678");
  const std::string unknown = raw_frame(0xBB, 0, 0, "");
  const std::string priority = raw_frame(2, 0, 1, std::string("\0\0\0\0\1", 5));
  const std::string priority_update = raw_frame(0x10, 0, 0, std::string("\0\0\0\1u", 5));
  const std::string window = raw_frame(8, 0, 0, std::string("\0\0\0\1", 4));
  const std::string closed_data = raw_frame(0, 0, 1, "");
  for (const std::string& flood :
       {settings, ping, unknown, priority, priority_update, window, closed_data}) {
    start({.flood_burst = 100, .flood_rate = 100});
    client->request(kGet, "");
    exchange();
    EXPECT_TRUE(survives(flood, 50)) << "type " << static_cast<int>(flood[3]);
    EXPECT_FALSE(survives(flood, 200)) << "type " << static_cast<int>(flood[3]);
    if (flood == settings) continue;  // the client sees acknowledgements that it does not expect
    ASSERT_FALSE(client->goodbyes.empty()) << "type " << static_cast<int>(flood[3]);
    EXPECT_EQ(client->goodbyes.back().error, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

TEST_F(SessionLimits, WindowUpdatesAreInOrderWhereThereWereRequests) {
  start({.flood_burst = 10, .flood_rate = 1});
  exchange();
  for (int i = 0; i < 200; ++i) {
    client->request(kGet, "");
    exchange();
    ASSERT_TRUE(survives(raw_frame(8, 0, 0, std::string("\0\0\0\1", 4)), 2)) << i;
  }
}

TEST_F(SessionLimits, PingsWithoutStreamsMustNotComeTooOften) {
  start({.min_ping_interval = seconds{5}});
  exchange();
  for (int i = 0; i < 20; ++i) {  // as often as allowed
    client->ping();
    exchange();
    now += seconds{5};
  }
  EXPECT_EQ(client->pongs, 20U);
  for (int i = 0; i < 4; ++i) {
    client->ping();
    exchange();
    now += seconds{1};
  }
  ASSERT_EQ(client->goodbyes.size(), 1U);
  EXPECT_EQ(client->goodbyes[0].error, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_TRUE(session->is_finished());
}

TEST_F(SessionLimits, RequestsBetweenPingsKeepTheConnection) {
  start({.min_ping_interval = seconds{5}});
  for (int i = 0; i < 20; ++i) {
    client->ping();
    client->request(kGet, "");
    exchange();
    now += seconds{1};
  }
  EXPECT_TRUE(client->goodbyes.empty());
}

TEST_F(SessionLimits, PingsBesideAnOpenStreamAreAnswered) {
  start({.min_ping_interval = seconds{5}});
  answers.answers = false;
  client->request(kGet, "");
  for (int i = 0; i < 20; ++i) {
    client->ping();
    exchange();
    now += seconds{1};
  }
  EXPECT_TRUE(client->goodbyes.empty());
  EXPECT_EQ(client->pongs, 20U);
}

}  // namespace
}  // namespace penstock::http2
