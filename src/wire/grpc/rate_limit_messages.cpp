#include "wire/grpc/rate_limit_messages.hpp"

#include "wire/http/check_body.hpp"
#include "wire/http/envoy_status.hpp"
#include "wire/http/rate_headers.hpp"
#include "wire/http/verdict.hpp"

#include <algorithm>
#include <string>

namespace penstock::wire::grpc {
namespace {

using http::EnvoyStatus;
using http::EnvoyUnit;
using DescriptorMessage = envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;

std::string place_of(int descriptor) { return "descriptors[" + std::to_string(descriptor) + "]"; }

Status refused(std::string text) {
  return {.code = StatusCode::InvalidArgument, .message = std::move(text)};
}

Result<Quota> read_override(const DescriptorMessage::RateLimitOverride& limit) {
  const int unit = limit.unit();
  const bool known = unit > 0 && unit <= static_cast<int>(EnvoyUnit::Year);
  if (!known) {
    return Error{ErrorCode::InvalidInput, "unit " + std::to_string(unit) + " is unknown"};
  }
  return http::quota_of_override(limit.requests_per_unit(), static_cast<EnvoyUnit>(unit));
}

Status read_descriptor(const DescriptorMessage& message, int place, rules::Descriptor& out) {
  out.entries.clear();
  out.cost.reset();
  out.limit.reset();
  if (static_cast<std::size_t>(message.entries_size()) > http::kMaxEntries) {
    return refused(place_of(place) + ".entries: " + std::to_string(message.entries_size()) +
                   " are more than " + std::to_string(http::kMaxEntries));
  }
  for (const DescriptorMessage::Entry& entry : message.entries()) {
    out.entries.push_back({.name = entry.key(), .value = entry.value()});
  }
  if (message.has_limit()) {
    const Result<Quota> quota = read_override(message.limit());
    if (!quota) return refused(place_of(place) + ".limit: " + quota.error().detail);
    out.limit = *quota;
  }
  if (message.has_hits_addend()) out.cost = Cost{message.hits_addend().value()};
  out.gives_back = message.is_negative_hits();
  return {};
}

void write_status(const EnvoyStatus& status, RateLimitResponse::DescriptorStatus& out) {
  out.set_code(status.over ? RateLimitResponse::OVER_LIMIT : RateLimitResponse::OK);
  out.set_limit_remaining(status.remaining);
  if (status.until_reset.count() > 0) {
    out.mutable_duration_until_reset()->set_seconds(status.until_reset.count());
  }
  if (status.limit == nullptr) return;
  const rules::Applied& applied = status.limit->applied;
  RateLimitResponse::RateLimit& limit = *out.mutable_current_limit();
  limit.set_requests_per_unit(applied.check.quota.limit());
  limit.set_unit(
      static_cast<RateLimitResponse::RateLimit::Unit>(http::unit_of(applied.check.quota.period())));
  if (applied.rule != nullptr) limit.set_name(applied.rule->given_name);
}

// Adds header fields to a message.
class MessageSink final : public http::FieldSink {
 public:
  explicit MessageSink(RateLimitResponse& out) : out_(out) {}

  [[nodiscard]] std::string& add(std::string_view name) override {
    auto& header = *out_.add_response_headers_to_add();
    header.set_key(name.data(), name.size());
    return *header.mutable_value();
  }

 private:
  RateLimitResponse& out_;
};

}  // namespace

Status read_request(const RateLimitRequest& message, rules::Request& out) {
  if (message.domain().empty()) {
    return {.code = StatusCode::Unknown, .message = "rate limit domain must not be empty"};
  }
  if (message.descriptors().empty()) {
    return {.code = StatusCode::Unknown, .message = "rate limit descriptor list must not be empty"};
  }
  const auto count = static_cast<std::size_t>(message.descriptors_size());
  if (count > http::kMaxDescriptors) {
    return refused("descriptors: " + std::to_string(count) + " are more than " +
                   std::to_string(http::kMaxDescriptors));
  }
  out.domain = message.domain();
  out.cost = Cost{std::max<std::uint64_t>(message.hits_addend(), 1)};
  out.descriptors.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<int>(i);
    Status read = read_descriptor(message.descriptors(place), place, out.descriptors[i]);
    if (!read.ok()) return read;
  }
  return {};
}

RateLimitResponse& ResponseWriter::write(const service::Answer& answer,
                                         const rules::Request* request) {
  RateLimitResponse& out = response_;
  out.Clear();
  out.set_overall_code(answer.allowed ? RateLimitResponse::OK : RateLimitResponse::OVER_LIMIT);
  for (std::size_t i = 0; i < answer.match.descriptors.size(); ++i) {
    write_status(http::envoy_status(answer, i, request), *out.add_statuses());
  }
  if (!answer.allowed) {
    write_refusal(answer);
  } else if (!drafts_.empty()) {
    MessageSink sink(out);
    http::put_rate_facts(answer, facts_);
    http::add_rate_headers(sink, drafts_, facts_);
  }
  return out;
}

void ResponseWriter::write_refusal(const service::Answer& answer) {
  // What Envoy answers its client with, whatever the reason, unless it is told otherwise.
  constexpr unsigned kTooManyRequests = 429;
  http::Response refusal = http::refusal(http::verdict_of(answer, {}), kTooManyRequests, drafts_);
  MessageSink sink(response_);
  for (const auto& [name, value] : refusal.fields) sink.add(name) = value;
  response_.set_raw_body(std::move(refusal.body));
}

void write_metadata(const RateLimitRequest& message, google::protobuf::Struct& out) {
  auto& members = *out.mutable_fields();
  members["domain"].set_string_value(message.domain());
  auto& descriptors = *members["descriptors"].mutable_list_value();
  for (const DescriptorMessage& descriptor : message.descriptors()) {
    auto& told = *descriptors.add_values()->mutable_struct_value()->mutable_fields();
    auto& entries = *told["entries"].mutable_list_value();
    for (const DescriptorMessage::Entry& entry : descriptor.entries()) {
      entries.add_values()->set_string_value(entry.key() + "=" + entry.value());
    }
    if (descriptor.has_limit()) {
      const int unit = std::clamp<int>(descriptor.limit().unit(), 0, 6);
      told["limit"].set_string_value(std::to_string(descriptor.limit().requests_per_unit()) + "/" +
                                     std::string(to_string(static_cast<EnvoyUnit>(unit))));
    }
    if (descriptor.has_hits_addend()) {
      told["hitsAddend"].set_number_value(static_cast<double>(descriptor.hits_addend().value()));
    }
  }
  if (message.hits_addend() > 0) members["hitsAddend"].set_number_value(message.hits_addend());
}

}  // namespace penstock::wire::grpc
