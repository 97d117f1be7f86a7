#include "wire/grpc/rate_limiter.hpp"

#include "answer/envoy_status.hpp"
#include "wire/grpc/call.hpp"
#include "wire/grpc/rate_limit_messages.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace penstock::wire::grpc {
namespace {

// Messages grow to the largest that they have held; beyond this they start afresh.
constexpr std::size_t kKeptBytes = std::size_t{16} << 10U;

Status parse(std::string_view bytes, RateLimitRequest& message, rules::Request& request) {
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return {.code = StatusCode::Internal, .message = "cannot read RateLimitRequest"};
  }
  return read_request(message, request);
}

// A refund of a client that may not refund is a peek. Whether there was one.
bool ignore_refunds(rules::Request& request) {
  bool found = false;
  for (rules::Descriptor& descriptor : request.descriptors) {
    if (!std::exchange(descriptor.is_refund, false)) continue;
    descriptor.cost = Cost{0};
    found = true;
  }
  return found;
}

}  // namespace

RateLimiter::RateLimiter(service::Service& service, const RateLimiterOptions& options)
    : service_(service), writer_(options.headers), dynamic_metadata_(options.dynamic_metadata) {}

void RateLimiter::use(const RateLimiterOptions& options) {
  writer_ = ResponseWriter(options.headers);
  dynamic_metadata_ = options.dynamic_metadata;
}

void RateLimiter::decide(Call& call) {
  const std::string_view bytes = call.message();
  if (dynamic_metadata_ || !read_plain_request(bytes, request_)) {
    const Status read = parse(bytes, message_, request_);
    if (!read.ok()) return call.end(read);
  }
  if (!call.may_refund() && ignore_refunds(request_)) call.count_ignored_refund();
  request_of_ = &call;
  if (dynamic_metadata_) {
    call.metadata = std::make_unique<google::protobuf::Struct>();
    write_metadata(message_, *call.metadata);
  }
  call.await_answer();
  service_.decide(request_, call.deadline(), [this, &call](const service::Answer& said) {
    if (call.reclaim()) answer(call, said);
  });
  request_of_ = nullptr;
  if (bytes.size() <= kKeptBytes) return;
  message_ = RateLimitRequest();
  request_ = {};
}

void RateLimiter::answer(Call& call, const service::Answer& answer) {
  // Not in message_, which may belong to a call that the service is deciding.
  std::optional<RateLimitRequest> message;
  rules::Request again;
  const rules::Request* request = request_of_ == &call ? &request_ : nullptr;
  if (request == nullptr && answer::shares_limits(answer)) {
    if (parse(call.message(), message.emplace(), again).ok()) {
      if (!call.may_refund()) static_cast<void>(ignore_refunds(again));
      request = &again;
    }
  }
  if (call.metadata != nullptr) add_rule_metadata(answer, request, *call.metadata);
  writer_.write(answer, request, call.metadata.get(), call.begin_message());
  call.send_message();
  call.end({});
}

}  // namespace penstock::wire::grpc
