// libFuzzer: the body of a call in any portions. The reader stays within its limit and portions do
// not change the result; requests that protobuf accepts are rejected or within limits; the fast
// decoder agrees with protobuf.

#include "portions.hpp"
#include "wire/grpc/message_reader.hpp"
#include "wire/grpc/protocol.hpp"
#include "wire/grpc/rate_limit_messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace penstock::wire::grpc;
using penstock::fuzz::check;
using penstock::fuzz::Input;
using penstock::rules::Attribute;
using penstock::rules::Descriptor;
using penstock::rules::Request;
using Progress = MessageReader::Progress;

constexpr std::size_t kMaxMessage = 2000;

bool is_same(const Request& one, const Request& other) {
  const auto same_entry = [](const Attribute& a, const Attribute& b) {
    return a.name == b.name && a.value == b.value;
  };
  const auto same_descriptor = [&](const Descriptor& a, const Descriptor& b) {
    return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                      same_entry) &&
           a.cost == b.cost && a.limit == b.limit && a.is_refund == b.is_refund;
  };
  return one.domain == other.domain && one.cost == other.cost &&
         std::equal(one.descriptors.begin(), one.descriptors.end(), other.descriptors.begin(),
                    other.descriptors.end(), same_descriptor);
}

void read_message(std::string_view bytes) {
  Request plain;
  const bool is_plain = read_plain_request(bytes, plain);
  RateLimitRequest message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    check(!is_plain);
    return;
  }
  Request request;
  const Status status = read_request(message, request);
  if (!status.ok()) {
    check(!is_plain && !status.message.empty());
    return;
  }
  check(!is_plain || is_same(plain, request));
  check(!request.domain.empty() && !request.descriptors.empty());
  check(request.descriptors.size() == static_cast<std::size_t>(message.descriptors_size()));
  google::protobuf::Struct metadata;
  write_metadata(message, metadata);
}

std::string read_in_portions(const Input& input) {
  MessageReader reader;
  reader.begin(kMaxMessage);
  std::string seen;
  penstock::fuzz::feed(input, [&](std::string_view bytes) -> std::size_t {
    reader.add(bytes);
    for (Progress progress = reader.peek(); progress != Progress::NeedMore;
         progress = reader.peek()) {
      seen += std::to_string(static_cast<int>(progress)) + ";";
      if (progress != Progress::Message) return 0;
      check(reader.message().size() <= kMaxMessage);
      seen += reader.message();
      read_message(reader.message());
      reader.pop();
    }
    return bytes.size();
  });
  return seen;
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Input input = penstock::fuzz::input_of(data, size);
  const std::string_view bytes = input.bytes;
  penstock::fuzz::check_portions(input, read_in_portions);
  MessageReader reader;  // grows to the declared size only
  reader.begin(kMaxMessage, MessageReader::Compression::Accepted);
  reader.add(bytes.substr(0, bytes.size() / 2));
  reader.add(bytes.substr(bytes.size() / 2));
  check(reader.held() == bytes.size());
  check(reader.capacity() <= 2 * std::max<std::size_t>(bytes.size(), 4096));
  static_cast<void>(parse_timeout(bytes));
  std::string inflated;
  static_cast<void>(gunzip(bytes, kMaxMessage, inflated));
  check(inflated.size() <= kMaxMessage + 1);
  read_message(bytes);
  return 0;
}
