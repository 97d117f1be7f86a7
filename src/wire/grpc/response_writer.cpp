#include "wire/grpc/response_writer.hpp"

#include "answer/check_response.hpp"
#include "answer/envoy_status.hpp"
#include "wire/grpc/wire_format.hpp"

#include <string_view>

namespace penstock::wire::grpc {
namespace {

// The fields of proto/envoy/service/ratelimit/v3/rls.proto.
namespace response {
constexpr unsigned kOverallCode = 1;
constexpr unsigned kStatuses = 2;
constexpr unsigned kResponseHeadersToAdd = 3;
constexpr unsigned kRawBody = 5;
constexpr unsigned kDynamicMetadata = 6;
}  // namespace response
namespace descriptor_status {
constexpr unsigned kCode = 1;
constexpr unsigned kCurrentLimit = 2;
constexpr unsigned kLimitRemaining = 3;
constexpr unsigned kDurationUntilReset = 4;
}  // namespace descriptor_status
namespace rate_limit {
constexpr unsigned kRequestsPerUnit = 1;
constexpr unsigned kUnit = 2;
constexpr unsigned kName = 3;
}  // namespace rate_limit
namespace duration {
constexpr unsigned kSeconds = 1;
}
namespace header_value {
constexpr unsigned kKey = 1;
constexpr unsigned kValue = 2;
}  // namespace header_value

constexpr std::uint64_t kOk = 1;
constexpr std::uint64_t kOverLimit = 2;

void write_limit(WireWriter& writer, const rules::MatchedLimit& matched) {
  const std::size_t start = writer.begin(descriptor_status::kCurrentLimit);
  const Quota& quota = matched.check.quota;
  writer.number(rate_limit::kRequestsPerUnit, quota.limit());
  writer.number(rate_limit::kUnit, static_cast<std::uint64_t>(answer::unit_of(quota.period())));
  if (matched.rule != nullptr) writer.bytes(rate_limit::kName, matched.rule->given_name);
  writer.end(start);
}

void write_status(WireWriter& writer, const answer::EnvoyStatus& status) {
  const std::size_t start = writer.begin(response::kStatuses);
  writer.number(descriptor_status::kCode, status.over_limit ? kOverLimit : kOk);
  if (status.limit != nullptr) write_limit(writer, status.limit->matched);
  writer.number(descriptor_status::kLimitRemaining, status.remaining);
  if (status.until_reset.count() > 0) {
    const std::size_t inner = writer.begin(descriptor_status::kDurationUntilReset);
    writer.number(duration::kSeconds, static_cast<std::uint64_t>(status.until_reset.count()));
    writer.end(inner);
  }
  writer.end(start);
}

// Writes header fields into the message; each ends when the next one begins, or with the sink.
class MessageSink final : public answer::FieldSink {
 public:
  explicit MessageSink(http::TextWriter& out) : out_(out), writer_(out) {}
  ~MessageSink() override { end_field(); }
  MessageSink(const MessageSink&) = delete;
  MessageSink& operator=(const MessageSink&) = delete;

  [[nodiscard]] http::TextWriter& add(std::string_view name) override {
    end_field();
    field_ = writer_.begin(response::kResponseHeadersToAdd);
    writer_.bytes(header_value::kKey, name);
    value_ = writer_.begin(header_value::kValue);
    return out_;
  }

 private:
  void end_field() {
    if (field_ == 0) return;
    writer_.end(value_);
    writer_.end(field_);
  }

  http::TextWriter& out_;
  WireWriter writer_;
  std::size_t field_ = 0;  // where it starts; 0: there is none yet
  std::size_t value_ = 0;
};

}  // namespace

void ResponseWriter::write(const service::Answer& answer, const rules::Request* request,
                           const google::protobuf::Struct* metadata, std::string& out) {
  http::TextWriter text(out);
  WireWriter writer(text);
  writer.number(response::kOverallCode, answer.allowed ? kOk : kOverLimit);
  for (std::size_t i = 0; i < answer.match.descriptors.size(); ++i) {
    write_status(writer, answer::envoy_status(answer, i, request));
  }
  if (!answer.allowed) {
    write_denial(answer, text);
  } else if (!drafts_.empty()) {
    write_headers(answer, text);
  }
  if (metadata != nullptr) {
    writer.field_of(response::kDynamicMetadata, metadata->SerializeAsString());
  }
}

void ResponseWriter::write_headers(const service::Answer& answer, http::TextWriter& out) {
  MessageSink sink(out);
  answer::fill_rate_limit_info(answer, policies_, info_);
  answer::add_rate_headers(sink, drafts_, info_);
}

void ResponseWriter::write_denial(const service::Answer& answer, http::TextWriter& out) {
  // The default status of Envoy for denied requests.
  constexpr unsigned kTooManyRequests = 429;
  const http::Response refusal = answer::denial_response(answer, kTooManyRequests, drafts_);
  {
    MessageSink sink(out);
    for (const auto& [name, value] : refusal.fields) sink.add(name).text(value);
  }
  WireWriter(out).bytes(response::kRawBody, refusal.body);
}

}  // namespace penstock::wire::grpc
