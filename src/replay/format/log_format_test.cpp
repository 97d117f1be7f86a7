// One line of each format, as its server writes it, and what a replay reads from it.
#include "replay/format/log_format.hpp"

#include "replay/format/combined_parser.hpp"
#include "replay/run/log_attributes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::replay {
namespace {

using Entries = std::vector<FieldMap::Entry>;

// "time method target host proto client|name=value|...", or the reason
std::string read_line(LineParser& parser, std::string_view line) {
  LogRecord record;
  const LineOutcome outcome = parser.parse(line, record);
  if (outcome.kind != LineOutcome::Kind::Request) return std::string(outcome.reason);
  const auto text = [](std::string_view value) {
    return value.data() == nullptr ? std::string("-") : std::string(value);
  };
  std::string out = std::to_string(record.time.time_since_epoch().count() / 1000) + " " +
                    text(record.method) + " " +
                    text(record.target.data() == nullptr ? record.path : record.target) + " " +
                    text(record.host) + " " + text(record.proto) + " " + text(record.client_ip);
  for (const rules::Attribute& other : record.others) {
    out += "|" + std::string(other.name) + "=" + std::string(other.value);
  }
  return out;
}

std::string read_line(LogFormat format, std::string_view line, const Entries& mapping = {}) {
  return read_line(*make_parser(format, mapping), line);
}

constexpr std::string_view kNginx =
    R"(192.0.2.7 - alice [10/Oct/2026:13:55:36 +0000] "GET /a?b=c HTTP/1.1" 200 23 "http://r/" "curl/8")";
constexpr std::string_view kCaddy =
    R"({"level":"info","ts":1791640536.25,"logger":"http.log.access.log0","msg":"handled request",)"
    R"("request":{"remote_ip":"10.0.0.1","remote_port":"41342","client_ip":"192.0.2.7","proto":"HTTP/2.0",)"
    R"("method":"GET","host":"example.com","uri":"/a?b=c","headers":{"User-Agent":["curl/8"],)"
    R"("X-Api-Key":["k1","k2"]},"tls":{"resumed":false,"version":772}},"bytes_read":0,"status":200})";
constexpr std::string_view kEnvoy =
    R"({"start_time":"2026-10-10T13:55:36.250Z","method":"GET","path":"/a?b=c","protocol":"HTTP/1.1",)"
    R"("response_code":200,"authority":"example.com:443","user_agent":"curl/8","x_forwarded_for":null,)"
    R"("downstream_remote_address":"192.0.2.7:41342","request_id":"r-1"})";
constexpr std::string_view kTraefik =
    R"({"ClientAddr":"192.0.2.7:41342","ClientHost":"192.0.2.7","RequestHost":"example.com",)"
    R"("RequestMethod":"GET","RequestPath":"/a?b=c","RequestScheme":"https","StartUTC":"2026-10-10T13:55:36.25Z",)"
    R"("request_User-Agent":"curl/8","level":"info","msg":"","time":"2026-10-10T13:55:37Z"})";
constexpr std::string_view kPenstock =
    R"({"time":"2026-10-10T13:55:36Z","client":"192.0.2.7","method":"GET","target":"/a?b=c",)"
    R"("host":"example.com","protocol":"HTTP/1.1","status":200,"bytes":5,"microseconds":10,"upstream":"u",)"
    R"("decision":"within_limits","referer":"","user_agent":"curl/8","truncated":false})";

TEST(LogFormats, ReadsTheCombinedFormat) {
  EXPECT_EQ(read_line(LogFormat::Combined, kNginx),
            "1791640536000 GET /a?b=c - - 192.0.2.7|header.referer=http://r/|"
            "header.user-agent=curl/8");
  EXPECT_EQ(read_line(LogFormat::Combined,
                      R"(::1 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 23)"),
            "1791640536000 GET / - - ::1");
}

TEST(LogFormats, ReadsTheVirtualHostOfApache) {
  const std::string rest = R"( - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 23 "-" "-")";
  for (const auto& [line, host_and_client] :
       {std::pair{"example.com:443 192.0.2.7", "example.com:443 - 192.0.2.7"},
        {"example.com 2001:db8::7", "example.com - 2001:db8::7"},
        {"192.0.2.1:80 192.0.2.7", "192.0.2.1:80 - 192.0.2.7"},
        {"example.com:443 client.example.org", "example.com:443 - client.example.org"},
        {"192.0.2.7:4134", "- - 192.0.2.7:4134"},
        {"2001:db8::443", "- - 2001:db8::443"},
        {"client.example.org", "- - client.example.org"},
        {"-", "- - -"}}) {
    EXPECT_EQ(read_line(LogFormat::Combined, line + rest),
              std::string("1791640536000 GET / ") + host_and_client);
  }
}

TEST(LogFormats, ReadsUserNamesWithBracketsAndBlanks) {
  for (const char* user : {"a [b", "a [b] c", "[10/Oct/2026:13:55:00 +0000] x", R"(a \" [b)"}) {
    EXPECT_EQ(read_line(LogFormat::Combined,
                        std::string("192.0.2.7 - ") + user +
                            R"( [10/Oct/2026:13:55:36 +0000] "GET /a [b] HTTP/1.1" 200 23)"),
              "1791640536000 GET /a [b] - - 192.0.2.7")
        << user;
  }
}

TEST(LogFormats, DecodesEscapesOfNginxAndApache) {
  EXPECT_EQ(
      read_line(
          LogFormat::Combined,
          R"(1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /\xE4\"x HTTP/1.1" 200 1 "-" "a\\\"b")"),
      "1791640536000 GET /\xE4\"x - - 1.2.3.4|header.user-agent=a\\\"b");
  EXPECT_EQ(unescaped_log_text(R"(\t\x4\)"), "\tx4\\");
}

TEST(LogFormats, SaysWhyALineIsNotARequest) {
  EXPECT_EQ(read_line(LogFormat::Combined, "hello"), "no [time] in brackets");
  EXPECT_EQ(read_line(LogFormat::Combined, "a b [10/Oct/2026] x"),
            "the time is not like [10/Oct/2026:13:55:36 +0200]");
  EXPECT_EQ(read_line(LogFormat::Combined, "a - - [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.1"),
            "no \"request\" in quotes after the time");
  EXPECT_EQ(read_line(LogFormat::Combined,
                      R"(a - - [10/Oct/2026:13:55:36 +0000] "\x16\x03\x01" 400 0 "-" "-")"),
            "the client sent no HTTP request");
  EXPECT_EQ(read_line(LogFormat::Json, "{"), "not a JSON object");
  EXPECT_EQ(read_line(LogFormat::Json, R"({"time":"x"})"), "the time has no known form");
  EXPECT_EQ(read_line(LogFormat::Json, R"({"path":"/"})"), "no field for the time; see --map");
  EXPECT_EQ(read_line(LogFormat::Caddy, R"({"ts":1,"msg":"started"})"),
            "not an entry of an access log");
}

TEST(LogFormats, ReadsTheJsonOfProxies) {
  EXPECT_EQ(read_line(LogFormat::Caddy, kCaddy),
            "1791640536250 GET /a?b=c example.com https 192.0.2.7|header.user-agent=curl/8|"
            "header.x-api-key=k1, k2");
  EXPECT_EQ(read_line(LogFormat::Envoy, kEnvoy),
            "1791640536250 GET /a?b=c example.com:443 - 192.0.2.7:41342|header.user-agent=curl/8|"
            "header.x-request-id=r-1");
  EXPECT_EQ(read_line(LogFormat::Traefik, kTraefik),
            "1791640536250 GET /a?b=c example.com https 192.0.2.7|header.user-agent=curl/8");
  EXPECT_EQ(read_line(LogFormat::Penstock, kPenstock),
            "1791640536000 GET /a?b=c example.com - 192.0.2.7|header.user-agent=curl/8");
}

TEST(LogFormats, DetectsEachFormatByItsLines) {
  for (const auto& [line, format] :
       {std::pair{kNginx, LogFormat::Combined},
        {kCaddy, LogFormat::Caddy},
        {kEnvoy, LogFormat::Envoy},
        {kTraefik, LogFormat::Traefik},
        {kPenstock, LogFormat::Penstock},
        {std::string_view(R"({"time":1791640536,"path":"/a"})"), LogFormat::Json},
        {std::string_view("time,path\n1791640536,/a\n"), LogFormat::Csv}}) {
    EXPECT_EQ(detect_format(line, {}), format) << line;
    EXPECT_EQ(detect_format("garbage\n" + std::string(line), {}), format) << line;
  }
  EXPECT_EQ(detect_format("garbage\n", {}), std::nullopt);
}

TEST(LogFormats, MapsFieldsOfJsonToAttributes) {
  const Entries mapping =
      *FieldMap::parse("time=at,client_ip=from.ip,userId=user_id,Header.X-Api-Key=key");
  EXPECT_EQ(
      read_line(
          LogFormat::Json,
          R"({"at":1791640536123,"from":{"ip":"192.0.2.7"},"user_id":42,"key":"a\"\u00e9\ud83d\ude00"})",
          mapping),
      "1791640536123 - - - - 192.0.2.7|userId=42|header.x-api-key=a\"\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(FieldMap::parse("client_ip").error().detail,
            "--map: \"client_ip\" must be ATTRIBUTE=FIELD, e.g. client_ip=remote_addr");
}

// "path query" of a JSON line
std::string target_of(std::string_view line, std::string_view mapping) {
  LogRecord record;
  const auto parser = make_parser(LogFormat::Json, *FieldMap::parse(mapping));
  EXPECT_EQ(parser->parse(line, record).kind, LineOutcome::Kind::Request);
  LogAttributes attributes({});
  std::string text;
  for (const rules::Attribute& one : **attributes.derive(record)) {
    if (one.name == "path" || one.name == "query") text.append(one.value).append(" ");
  }
  return text;
}

TEST(LogFormats, PrefersTheMappedPathAndQueryToTheTarget) {
  constexpr std::string_view kLine =
      R"({"time":1791640536,"route":"/r","uri":"/a?b=c","q":"x=y","path":"/p","full":"/f?g"})";
  EXPECT_EQ(target_of(kLine, ""), "/a b=c ");
  EXPECT_EQ(target_of(kLine, "path=route"), "/r b=c ");
  EXPECT_EQ(target_of(kLine, "query=q"), "/a x=y ");
  EXPECT_EQ(target_of(kLine, "path=route,query=q"), "/r x=y ");
  EXPECT_EQ(target_of(kLine, "target=full"), "/f g ");
  EXPECT_EQ(target_of(kLine, "target=full,query=q"), "/f g ");
  EXPECT_EQ(target_of(kLine, "query=q,target=full"), "/f x=y ");
}

std::size_t bytes_kept(const LogRecord& record) {
  std::size_t bytes = 0;
  for (const std::string& text : record.texts) bytes += text.size();
  return bytes;
}

TEST(LogFormats, BoundsTheValuesOfAFieldAndTheHeadersOfALine) {
  std::string values = R"("v")";
  std::string headers = R"("X":["v"])";
  for (int i = 0; i < 3000; ++i) {
    values += R"(,"v")";
    headers += ",\"H" + std::to_string(i) + "\":[\"v\"]";
  }
  const auto parser = make_parser(LogFormat::Caddy, *FieldMap::parse("user=users"));
  LogRecord record;
  const std::string line = R"({"ts":1791640536,"request":{"uri":"/","headers":{"Accept":[)" +
                           values + "]," + headers + R"(}},"users":[)" + values + "]}";
  ASSERT_EQ(parser->parse(line, record).kind, LineOutcome::Kind::Request);
  EXPECT_EQ(record.others.size(), FieldValues::kMaxHeaders + 1);
  const std::size_t list_bytes = 3 * FieldValues::kMaxValues - 2;
  EXPECT_EQ(record.others.front().name, "header.accept");
  EXPECT_EQ(record.others.front().value.size(), list_bytes);
  EXPECT_EQ(record.others.back().name, "user");
  EXPECT_EQ(record.others.back().value.size(), list_bytes);
  EXPECT_LT(bytes_kept(record), 10'000U);
}

TEST(LogFormats, KeepsOnlyTheHeadersThatAreWanted) {
  const auto parser =
      make_parser(LogFormat::Caddy, {}, std::vector<std::string>{"header.x-api-key"});
  EXPECT_EQ(read_line(*parser, kCaddy),
            "1791640536250 GET /a?b=c example.com https 192.0.2.7|header.x-api-key=k1, k2");
  const auto json =
      make_parser(LogFormat::Json, {}, std::vector<std::string>{"path", "header.x-real-ip"});
  EXPECT_EQ(read_line(*json, R"({"time":1791640536,"header":{"x":"y","x-real-ip":"192.0.2.7"}})"),
            "1791640536000 - - - - -|header.x-real-ip=192.0.2.7");
  EXPECT_EQ(read_line(*json, R"({"time":1791640536,"header":{"x":"y"}})"),
            "1791640536000 - - - - -");
}

TEST(LogFormats, ReadsCsvWithQuotes) {
  const auto parser =
      make_parser(LogFormat::Csv, *FieldMap::parse("time=when,client_ip=ip,user=who"));
  EXPECT_EQ(read_line(*parser, "when,ip,path,who"), "the names of the columns");
  EXPECT_EQ(read_line(*parser, R"(1791640536,192.0.2.7,"/a,""b""",)"),
            "1791640536000 - /a,\"b\" - - 192.0.2.7");
  EXPECT_EQ(read_line(*parser, R"(1791640536,192.0.2.7,/a,ann)"),
            "1791640536000 - /a - - 192.0.2.7|user=ann");
  EXPECT_EQ(read_line(*parser, "1791640536,192.0.2.7"),
            "not as many values as the first line has names");
  EXPECT_EQ(read_line(*parser, "1791640536,\"192"), "a quote is not closed");
  EXPECT_EQ(read_line(LogFormat::Csv, "a,b"), "the first line names no mapped column; see --map");
}

TEST(JsonScanner, RejectsDeepAndMalformedTexts) {
  for (const std::string& text :
       {std::string("[]"), std::string(R"({"a":1)"), std::string(R"({"a":1}x)"),
        std::string(R"({"a":tru})"), std::string(R"({"a" 1})"), std::string(R"({"a":1,})"),
        "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"}) {
    EXPECT_EQ(read_line(LogFormat::Json, text), "not a JSON object") << text;
  }
}

}  // namespace
}  // namespace penstock::replay
