#include "wire/grpc/rate_limit_messages.hpp"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::wire::grpc {
namespace {

std::string bytes_of(const std::string& text) {
  RateLimitRequest message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message.SerializeAsString();
}

// With the data of an earlier call.
rules::Request used_request() {
  rules::Request request;
  request.domain = "old";
  request.descriptors.resize(3);
  request.descriptors[0] = {.entries = {{.name = "old", .value = "old"}},
                            .cost = Cost{9},
                            .limit = Quota::make(per(1, std::chrono::seconds{1})).value(),
                            .is_refund = true};
  return request;
}

std::string text_of(const rules::Request& request) {
  std::string all = std::string(request.domain) + " x" + std::to_string(request.cost.units);
  for (const rules::Descriptor& descriptor : request.descriptors) {
    all += " [";
    for (const rules::Attribute& entry : descriptor.entries) {
      all += std::string(entry.name) + "=" + std::string(entry.value) + ",";
    }
    all += "]";
    if (descriptor.cost || descriptor.limit || descriptor.is_refund) all += " more";
  }
  return all;
}

// Empty when it is not plain.
std::string read_plain(const std::string& bytes) {
  rules::Request request = used_request();
  return read_plain_request(bytes, request) ? text_of(request) : std::string();
}

// As protobuf reads it; empty when it cannot be answered.
std::string read_fully(const std::string& bytes) {
  RateLimitRequest message;
  rules::Request request = used_request();
  if (!message.ParseFromString(bytes) || !read_request(message, request).ok()) return {};
  return text_of(request);
}

TEST(PlainRequest, IsADomainAndDescriptorsOfEntries) {
  EXPECT_EQ(read_plain(bytes_of(R"(domain: "d" hits_addend: 300
                                   descriptors {entries {key: "k" value: "v"} entries {key: "x"}}
                                   descriptors {})")),
            "d x300 [k=v,x=,] []");
}

TEST(PlainRequest, EverythingElseIsLeftToProtobuf) {
  for (const char* const text :
       {"", "domain: 'd'", "descriptors {}", "domain: 'd' descriptors {hits_addend {value: 2}}",
        "domain: 'd' descriptors {is_negative_hits: true}",
        "domain: 'd' descriptors {limit {unit: HOUR requests_per_unit: 1}}",
        "domain: '\xC3\xA9' descriptors {}",
        "domain: 'd' descriptors {entries {key: 'k' value: '\xC3\xA9'}}"}) {
    EXPECT_EQ(read_plain(bytes_of(text)), "") << text;
  }
  std::string many = "domain: 'd'";
  for (int i = 0; i < 100; ++i) many += " descriptors {}";
  EXPECT_NE(read_plain(bytes_of(many)), "");
  EXPECT_EQ(read_plain(bytes_of(many + " descriptors {}")), "");
}

// Bytes of a request, some of them changed, missing or doubled.
rc::Gen<std::string> damaged_requests() {
  return rc::gen::exec([] {
    RateLimitRequest message;
    const auto text = rc::gen::container<std::string>(rc::gen::inRange<char>('a', 'e'));
    message.set_domain(*text);
    message.set_hits_addend(*rc::gen::inRange<std::uint32_t>(0, 1000));
    const auto descriptors = *rc::gen::inRange(0, 4);
    for (int i = 0; i < descriptors; ++i) {
      auto& descriptor = *message.add_descriptors();
      const auto entries = *rc::gen::inRange(0, 4);
      for (int j = 0; j < entries; ++j) {
        auto& entry = *descriptor.add_entries();
        entry.set_key(*text);
        entry.set_value(*text);
      }
    }
    std::string bytes = message.SerializeAsString();
    const auto damages = *rc::gen::inRange(0, 3);
    for (int i = 0; i < damages && !bytes.empty(); ++i) {
      const auto place = *rc::gen::inRange<std::size_t>(0, bytes.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0: bytes[place] = *rc::gen::arbitrary<char>(); break;
        case 1: bytes.erase(place, *rc::gen::inRange<std::size_t>(1, 4)); break;
        default: bytes += bytes.substr(place); break;
      }
    }
    return bytes;
  });
}

RC_GTEST_PROP(PlainRequest, IsReadAsProtobufReadsIt, ()) {
  const std::string bytes = *damaged_requests();
  const std::string plain = read_plain(bytes);
  RC_CLASSIFY(!plain.empty(), "plain");
  if (!plain.empty()) RC_ASSERT(plain == read_fully(bytes));
}

}  // namespace
}  // namespace penstock::wire::grpc
