#include "apps/penstock/remote/daemon_access.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <string>

namespace penstock::app {
namespace {

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = static_cast<unsigned char>(text[i]);
    if (text[i] == '%') {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      i += 2;
    }
    plain += static_cast<char>(byte);
  }
  return plain;
}

TEST(DaemonUrl, KnowsTheUsualPorts) {
  const Result<DaemonAddress> plain = parse_daemon_url("--server", "http://limiter");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->host, "limiter");
  EXPECT_EQ(plain->port, "80");
  EXPECT_EQ(plain->authority(), "limiter");
  const Result<DaemonAddress> secured = parse_daemon_url("--server", "https://limiter/");
  ASSERT_TRUE(secured);
  EXPECT_TRUE(secured->tls);
  EXPECT_EQ(secured->port, "443");
  EXPECT_EQ(secured->authority(), "limiter");
}

TEST(DaemonUrl, KeepsTheAuthorityAsWritten) {
  for (const char* authority :
       {"127.0.0.1:8080", "[::1]:8080", "[fe80::1%25eth0]", "a.example:1"}) {
    const Result<DaemonAddress> address =
        parse_daemon_url("--server", std::string("http://") + authority);
    ASSERT_TRUE(address) << authority;
    EXPECT_EQ(address->authority(), authority);
  }
}

TEST(DaemonUrl, ResolvesIpv6WithoutBrackets) {
  const Result<DaemonAddress> address = parse_daemon_url("--server", "http://[::1]:8080");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, "8080");
  EXPECT_TRUE(address->is_ipv6());
}

TEST(DaemonUrl, NamesTheOptionAndTheValueThatIsWrong) {
  for (const std::string url : {"",
                                "limiter:8080",
                                "ftp://limiter",
                                "http://",
                                "http:///",
                                "http://:80",
                                "http://a:",
                                "http://a:0",
                                "http://a:65536",
                                "http://a:http",
                                "http://a:80:80",
                                "http://::1",
                                "http://[::1",
                                "http://[]",
                                "http://[a]",
                                "http://[::1]80",
                                "http://a/v1",
                                "http://a?b",
                                "http://a#b",
                                "http://a b",
                                "http://a\r\nb"}) {
    const Result<DaemonAddress> address = parse_daemon_url("--admin", url);
    ASSERT_FALSE(address) << url;
    EXPECT_EQ(address.error().code, ErrorCode::InvalidInput);
    EXPECT_TRUE(address.error().detail.starts_with("--admin \"" + url + "\"")) << url;
  }
}

TEST(DaemonUrl, DoesNotRepeatPasswords) {
  const Result<DaemonAddress> address = parse_daemon_url("--server", "http://me:secret@limiter");
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().detail.find("secret"), std::string::npos);
}

RC_GTEST_PROP(PercentEncoded, KeepsEveryByteAndNeedsFewCharacters, (const std::string& text)) {
  const std::string encoded = percent_encoded(text);
  RC_ASSERT(decoded(encoded) == text);
  RC_ASSERT(encoded.find_first_of("/?#&=+ ") == std::string::npos);
}

TEST(PercentEncoded, LeavesWhatIsPlain) {
  EXPECT_EQ(percent_encoded("Az09-._~"), "Az09-._~");
  EXPECT_EQ(percent_encoded("api_key=a/b c"), "api_key%3Da%2Fb%20c");
  EXPECT_EQ(percent_encoded("ü"), "%C3%BC");
}

}  // namespace
}  // namespace penstock::app
