#include "wire/grpc/rate_limit_messages.hpp"

#include "service_harness/test_service.hpp"
#include "wire/grpc/response_writer.hpp"
#include "wire/grpc/wire_format.hpp"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::wire::grpc {
namespace {

using envoy::service::ratelimit::v3::RateLimitResponse;
using rules::HeaderDraft;
using std::chrono::milliseconds;
using std::chrono::seconds;

RateLimitRequest request_of(const std::string& text) {
  RateLimitRequest message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// "domain xCOST [k=v ...] xCOST LIMIT refund"
std::string read(const std::string& text) {
  const RateLimitRequest message = request_of(text);
  rules::Request request;
  request.descriptors.resize(3);  // of a call before
  request.descriptors[0] = {.entries = {{.name = "old", .value = "old"}},
                            .cost = Cost{9},
                            .limit = Quota::make(per(1, seconds{1})).value(),
                            .is_refund = true};
  const Status status = read_request(message, request);
  if (!status.ok()) return std::string(digits_of(status.code)) + " " + status.message;
  std::string all = std::string(request.domain) + " x" + std::to_string(request.cost.units);
  for (const rules::Descriptor& descriptor : request.descriptors) {
    all += " [";
    for (const rules::Attribute& entry : descriptor.entries) {
      all += std::string(entry.name) + "=" + std::string(entry.value) + ",";
    }
    all += "]";
    if (descriptor.cost) all += " x" + std::to_string(descriptor.cost->units);
    if (descriptor.limit) all += " " + to_string(*descriptor.limit);
    if (descriptor.is_refund) all += " refund";
  }
  return all;
}

TEST(RateLimitRequest, IsReadFieldByField) {
  EXPECT_EQ(read(R"(domain: "d" descriptors {entries {key: "k" value: "v"} entries {key: "x"}})"),
            "d x1 [k=v,x=,]");
  EXPECT_EQ(
      read(R"(domain: "d" hits_addend: 7 descriptors {} descriptors {hits_addend {value: 0}})"),
      "d x7 [] [] x0");
  EXPECT_EQ(read(R"(domain: "d" hits_addend: 0
                    descriptors {hits_addend {value: 18446744073709551615} is_negative_hits: true})"),
            "d x1 [] x18446744073709551615 refund");
  EXPECT_EQ(read(R"(domain: "d" descriptors {limit {requests_per_unit: 5 unit: HOUR}})"),
            "d x1 [] 5/h fixed_window");
}

TEST(RateLimitRequest, AnyNumberMayBeTheLimitOfADescriptor) {
  EXPECT_EQ(read("domain: 'd' descriptors {limit {unit: DAY}}"), "d x1 [] 0/d fixed_window");
  EXPECT_EQ(read("domain: 'd' descriptors {limit {requests_per_unit: 1000000000 unit: SECOND}}"),
            "d x1 [] 1000000000/s fixed_window");
  EXPECT_EQ(read("domain: 'd' descriptors {limit {requests_per_unit: 1000000001 unit: SECOND}}"),
            "d x1 [] 1000000000/s fixed_window");
  EXPECT_EQ(read("domain: 'd' descriptors {limit {requests_per_unit: 4294967295 unit: YEAR}}"),
            "d x1 [] 1000000000/365d fixed_window");
}

TEST(RateLimitRequest, WhatCannotBeAnsweredIsNamed) {
  EXPECT_EQ(read("descriptors {}"), "2 rate limit domain must not be empty");
  EXPECT_EQ(read("domain: 'd'"), "2 rate limit descriptor list must not be empty");
  EXPECT_EQ(read("domain: 'd' descriptors {} descriptors {limit {requests_per_unit: 5}}"),
            "3 descriptors[1].limit: unit 0 is unknown");
  std::string many = "domain: 'd'";
  for (int i = 0; i < 101; ++i) many += " descriptors {}";
  EXPECT_EQ(read(many), "3 descriptors: 101 are more than 100");
  std::string entries = "domain: 'd' descriptors {";
  for (int i = 0; i < 101; ++i) entries += " entries {key: 'k'}";
  EXPECT_EQ(read(entries + "}"), "3 descriptors[0].entries: 101 are more than 100");
}

struct RateLimitResponses : ::testing::Test {
  RateLimitResponses() {
    rule.domain = "api";
    rule.name = "search";
    rule.given_name = "given";
    rule.limits = {{.name = "", .quota = Quota::make(per(600, std::chrono::minutes{1})).value()}};
  }

  [[nodiscard]] service::LimitAnswer limit(const Decision& decision) const {
    return {.matched = {.rule = &rule,
                        .check = {.name = {.subject = "k=v", .limit = "api/search"},
                                  .quota = rule.limits.front().quota}},
            .decision = decision};
  }
  [[nodiscard]] service::Answer answer_of(const Decision& decision) const {
    service::Answer answer{
        .allowed = decision.allowed(),
        .reason = decision.allowed() ? service::Reason::WithinLimits : service::Reason::OverLimit,
        .limits = {limit(decision)},
        .strictest = 0};
    answer.match.domain_known = true;
    answer.match.descriptors = {rules::DescriptorOutcome::Limited};
    return answer;
  }
  static std::string text_of(const RateLimitResponse response) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    std::string text;
    printer.PrintToString(response, &text);
    return text;
  }

  // The output, parsed with protobuf.
  RateLimitResponse write(const service::Answer& answer,
                          const google::protobuf::Struct* metadata = nullptr) {
    std::string bytes = "before";
    writer.write(answer, nullptr, metadata, bytes);
    RateLimitResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes.substr(6)));
    EXPECT_EQ(response.SerializeAsString(), bytes.substr(6)) << "as protobuf would write it";
    return response;
  }

  rules::Rule rule;
  ResponseWriter writer{{}};
};

TEST_F(RateLimitResponses, WithinLimitSaysWhatIsLeft) {
  EXPECT_EQ(
      text_of(write(answer_of(Decision::allow(600, 599, milliseconds{100})))),
      "overall_code: OK statuses { code: OK current_limit { requests_per_unit: 600 unit: MINUTE "
      "name: \"given\" } limit_remaining: 599 duration_until_reset { seconds: 1 } } ");
}

TEST_F(RateLimitResponses, WritesTheSameWhateverItWroteBefore) {
  const service::Answer first = answer_of(Decision::allow(600, 599, seconds{1}));
  const std::string fresh = text_of(write(first));
  static_cast<void>(write(answer_of(Decision::deny(600, 0, seconds{9}, seconds{9}))));
  EXPECT_EQ(text_of(write(first)), fresh);
}

TEST_F(RateLimitResponses, DenialHasABodyForTheClientOfEnvoy) {
  const RateLimitResponse response =
      write(answer_of(Decision::deny(600, 3, seconds{30}, milliseconds{11'001})));
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(response.statuses(0).code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(response.statuses(0).limit_remaining(), 3U);
  EXPECT_EQ(response.statuses(0).duration_until_reset().seconds(), 12);
  EXPECT_NE(response.raw_body().find("\"title\":\"Quota Exceeded\",\"status\":429"),
            std::string::npos);
  std::string headers;
  for (const auto& header : response.response_headers_to_add()) {
    headers += header.key() + ": " + header.value() + "\n";
  }
  EXPECT_EQ(headers,
            "Content-Type: application/problem+json\nCache-Control: no-store\nRetry-After: 12\n");
}

TEST_F(RateLimitResponses, HeadersAreThoseOfHttp) {
  writer = ResponseWriter({HeaderDraft::XRateLimit, HeaderDraft::Draft08});
  const RateLimitResponse response = write(answer_of(Decision::allow(600, 599, seconds{2})));
  std::string headers;
  for (const auto& header : response.response_headers_to_add()) {
    headers += header.key() + ": " + header.value() + "\n";
  }
  EXPECT_EQ(headers,
            "X-RateLimit-Limit: 600\nX-RateLimit-Remaining: 599\nX-RateLimit-Reset: 2\n"
            "RateLimit-Policy: \"search\";q=600;w=60\nRateLimit: \"search\";r=599;t=2\n");
}

std::string headers_of(const RateLimitResponse& response) {
  std::string headers;
  for (const auto& header : response.response_headers_to_add()) {
    if (header.key().starts_with("Rate")) headers += header.key() + ": " + header.value() + "\n";
  }
  return headers;
}

TEST_F(RateLimitResponses, StatusAndHeadersOfACostThatNeverFitsAgree) {
  writer = ResponseWriter({HeaderDraft::Draft08});
  const RateLimitResponse in_window =
      write(answer_of(Decision::never_fits(600, 600, milliseconds{29'500})));
  EXPECT_EQ(in_window.statuses(0).limit_remaining(), 600U);
  EXPECT_EQ(in_window.statuses(0).duration_until_reset().seconds(), 30);
  EXPECT_EQ(headers_of(in_window),
            "RateLimit-Policy: \"search\";q=600;w=60\nRateLimit: \"search\";r=600;t=30\n");
  const RateLimitResponse unused = write(answer_of(Decision::never_fits(600, 600, seconds{0})));
  EXPECT_EQ(unused.statuses(0).duration_until_reset().seconds(), 1);
  EXPECT_EQ(headers_of(unused),
            "RateLimit-Policy: \"search\";q=600;w=60\nRateLimit: \"search\";r=600;t=1\n");
}

TEST_F(RateLimitResponses, ALimitOfZeroIsReportedLikeAnyOther) {
  writer = ResponseWriter({HeaderDraft::Draft08});
  rule.limits.front().quota = Quota::none(std::chrono::minutes{1});
  const RateLimitResponse response = write(answer_of(Decision::never_fits(0, 0, seconds{30})));
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
  const auto& status = response.statuses(0);
  EXPECT_TRUE(status.has_current_limit());
  EXPECT_EQ(status.current_limit().requests_per_unit(), 0U);
  EXPECT_EQ(status.current_limit().unit(), RateLimitResponse::RateLimit::MINUTE);
  EXPECT_EQ(status.current_limit().name(), "given");
  EXPECT_EQ(status.duration_until_reset().seconds(), 30);
  EXPECT_NE(response.raw_body().find("search (0/m fixed_window) allows nothing"), std::string::npos)
      << response.raw_body();
  EXPECT_EQ(headers_of(response),
            "RateLimit-Policy: \"search\";q=0;w=60\nRateLimit: \"search\";r=0;t=30\n");
}

TEST_F(RateLimitResponses, EveryDescriptorHasItsStatus) {
  service::Answer answer = answer_of(Decision::allow(600, 1, seconds{1}));
  answer.limits[0].matched.descriptor = 2;
  answer.match.descriptors = {rules::DescriptorOutcome::NoRule, rules::DescriptorOutcome::Unlimited,
                              rules::DescriptorOutcome::Limited, rules::DescriptorOutcome::Denied};
  answer.allowed = false;
  answer.reason = service::Reason::DenyListed;
  const RateLimitResponse response = write(answer);
  ASSERT_EQ(response.statuses_size(), 4);
  EXPECT_EQ(response.statuses(0).code(), RateLimitResponse::OK);
  EXPECT_FALSE(response.statuses(0).has_current_limit());
  EXPECT_EQ(response.statuses(1).limit_remaining(), 4'294'967'295U);
  EXPECT_TRUE(response.statuses(2).has_current_limit());
  EXPECT_EQ(response.statuses(3).code(), RateLimitResponse::OVER_LIMIT);
}

TEST_F(RateLimitResponses, ShadowIsOkAndFailedClosedIsOver) {
  service::Answer answer = answer_of(Decision::deny(600, 0, seconds{1}, seconds{1}));
  answer.allowed = true;
  answer.limits[0].shadow = true;
  EXPECT_EQ(write(answer).statuses(0).code(), RateLimitResponse::OK);
  rule.on_failure = rules::OnFailure::Closed;
  answer.allowed = false;
  answer.reason = service::Reason::FailedClosed;
  answer.limits[0] = limit({});
  answer.limits[0].decision.reset();
  const RateLimitResponse response = write(answer);
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(response.statuses(0).code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_NE(response.raw_body().find("Temporary Reduced Capacity"), std::string::npos);
}

TEST_F(RateLimitResponses, PeriodThatIsNoneOfEnvoysHasNoUnit) {
  service::Answer answer = answer_of(Decision::allow(30, 29, seconds{1}));
  answer.limits[0].matched.check.quota = Quota::make(per(30, seconds{30})).value();
  EXPECT_EQ(write(answer).statuses(0).current_limit().unit(),
            RateLimitResponse::RateLimit::UNKNOWN);
  answer.limits[0].matched.check.quota = Quota::make(per(30, Days{7})).value();
  EXPECT_EQ(write(answer).statuses(0).current_limit().unit(), RateLimitResponse::RateLimit::WEEK);
}

TEST_F(RateLimitResponses, MetadataIsPartOfThem) {
  google::protobuf::Struct metadata;
  (*metadata.mutable_fields())["domain"].set_string_value(std::string(300, 'd'));
  const RateLimitResponse response =
      write(answer_of(Decision::allow(600, 599, seconds{1})), &metadata);
  EXPECT_EQ(response.dynamic_metadata().SerializeAsString(), metadata.SerializeAsString());
}

RC_GTEST_PROP(WireWriter, ProtobufReadsWhatItWrites, (std::uint32_t number)) {
  const auto size = *rc::gen::inRange<std::size_t>(0, 40'000);
  std::string bytes;
  {
    http::TextWriter text(bytes);
    WireWriter writer(text);
    const std::size_t outer = writer.begin(2);
    const std::size_t inner = writer.begin(2);
    writer.number(1, number);
    writer.bytes(3, std::string(size, 'n'));
    writer.end(inner);
    writer.number(3, number);
    writer.end(outer);
  }
  RateLimitResponse response;
  RC_ASSERT(response.ParseFromString(bytes));
  RC_ASSERT(response.SerializeAsString() == bytes);
  RC_ASSERT(response.statuses(0).current_limit().requests_per_unit() == number);
  RC_ASSERT(response.statuses(0).current_limit().name().size() == size);
}

TEST(DynamicMetadata, ContainsTheRequest) {
  google::protobuf::Struct told;
  write_metadata(request_of(R"(domain: "d" hits_addend: 2
      descriptors {entries {key: "k" value: "v"} hits_addend {value: 3}
                   limit {requests_per_unit: 5 unit: HOUR}})"),
                 told);
  google::protobuf::TextFormat::Printer printer;
  google::protobuf::Struct wanted;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(fields {key: "domain" value {string_value: "d"}}
         fields {key: "hitsAddend" value {number_value: 2}}
         fields {key: "descriptors" value {list_value {values {struct_value {
           fields {key: "entries" value {list_value {values {string_value: "k=v"}}}}
           fields {key: "limit" value {string_value: "5/HOUR"}}
           fields {key: "hitsAddend" value {number_value: 3}}}}}}})",
      &wanted));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(told, wanted))
      << told.DebugString();
}

TEST_F(RateLimitResponses, MetadataOfRulesThatLetPassIsMergedInTheirOrder) {
  using rules::MetadataList;
  using rules::MetadataMap;
  using rules::MetadataValue;
  rules::Rule second = rule;
  rules::Rule over = rule;
  rule.metadata = {{"team", {std::string("a")}},
                   {"deep", {MetadataMap{{"x", {1.5}}, {"n", MetadataValue{}}}}}};
  second.metadata = {{"team", {std::string("b")}},
                     {"deep", {MetadataMap{{"x", {2.0}}, {"y", {true}}}}},
                     {"list", {MetadataList{{std::string("l")}}}}};
  over.metadata = {{"over", {true}}};
  service::Answer answer = answer_of(Decision::allow(600, 1, seconds{1}));
  answer.limits.push_back(limit(Decision::allow(600, 1, seconds{1})));
  answer.limits.push_back(limit(Decision::deny(600, 0, seconds{1}, seconds{1})));
  answer.limits[1].matched.rule = &second;
  answer.limits[1].matched.descriptor = 1;
  answer.limits[2].matched.rule = &over;
  answer.limits[2].matched.descriptor = 2;
  answer.match.descriptors.assign(3, rules::DescriptorOutcome::Limited);
  google::protobuf::Struct told;
  add_rule_metadata(answer, nullptr, told);
  google::protobuf::Struct wanted;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(fields {key: "metadata" value {struct_value {
           fields {key: "team" value {string_value: "a"}}
           fields {key: "deep" value {struct_value {
             fields {key: "x" value {number_value: 1.5}}
             fields {key: "n" value {null_value: NULL_VALUE}}
             fields {key: "y" value {bool_value: true}}}}}
           fields {key: "list" value {list_value {values {string_value: "l"}}}}}}})",
      &wanted));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(told, wanted))
      << told.DebugString();
  rule.metadata.clear();
  second.metadata.clear();
  told.Clear();
  add_rule_metadata(answer, nullptr, told);
  EXPECT_TRUE(told.fields().empty());
}

}  // namespace
}  // namespace penstock::wire::grpc
