#include "wire/grpc/rate_limit_messages.hpp"

#include "wire/http/check_body.hpp"
#include "wire/http/envoy_status.hpp"

#include <algorithm>
#include <string>

namespace penstock::wire::grpc {
namespace {

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
