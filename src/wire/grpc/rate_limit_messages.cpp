#include "wire/grpc/rate_limit_messages.hpp"

#include "answer/envoy_status.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace penstock::wire::grpc {
namespace {

using answer::EnvoyUnit;
using DescriptorMessage = envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;

std::string place_of(int descriptor) { return "descriptors[" + std::to_string(descriptor) + "]"; }

Status invalid_argument(std::string text) {
  return {.code = StatusCode::InvalidArgument, .message = std::move(text)};
}

Result<Quota> read_override(const DescriptorMessage::RateLimitOverride& limit) {
  const int unit = limit.unit();
  const bool known = unit > 0 && unit <= static_cast<int>(answer::EnvoyUnit::Year);
  if (!known) {
    return Error{ErrorCode::InvalidInput, "unit " + std::to_string(unit) + " is unknown"};
  }
  return answer::quota_of_override(limit.requests_per_unit(), static_cast<answer::EnvoyUnit>(unit));
}

Status read_descriptor(const DescriptorMessage& message, int place, rules::Descriptor& out) {
  out.entries.clear();
  out.cost.reset();
  out.limit.reset();
  if (static_cast<std::size_t>(message.entries_size()) > rules::kMaxEntries) {
    return invalid_argument(place_of(place) +
                            ".entries: " + std::to_string(message.entries_size()) +
                            " are more than " + std::to_string(rules::kMaxEntries));
  }
  for (const DescriptorMessage::Entry& entry : message.entries()) {
    out.entries.push_back({.name = entry.key(), .value = entry.value()});
  }
  if (message.has_limit()) {
    const Result<Quota> quota = read_override(message.limit());
    if (!quota) return invalid_argument(place_of(place) + ".limit: " + quota.error().detail);
    out.limit = *quota;
  }
  if (message.has_hits_addend()) out.cost = Cost{message.hits_addend().value()};
  out.is_refund = message.is_negative_hits();
  return {};
}

// Rules of a descriptor with several limits do not exist in Envoy's format: the first will do.
const rules::Rule* rule_of(const service::Answer& answer, const answer::EnvoyStatus& status,
                           std::size_t descriptor) {
  if (status.limit != nullptr) return status.limit->matched.rule;
  for (const service::LimitAnswer& limit : answer.limits) {
    if (limit.matched.descriptor == descriptor) return limit.matched.rule;
  }
  return nullptr;
}

void merge(const rules::MetadataMap& metadata, google::protobuf::Struct& out);

// As deep as a file of rules may be.
// NOLINTNEXTLINE(misc-no-recursion)
void write_value(const rules::MetadataValue& value, google::protobuf::Value& out) {
  if (const auto* truth = std::get_if<bool>(&value.value)) {
    out.set_bool_value(*truth);
  } else if (const auto* number = std::get_if<double>(&value.value)) {
    out.set_number_value(*number);
  } else if (const auto* text = std::get_if<std::string>(&value.value)) {
    out.set_string_value(*text);
  } else if (const auto* list = std::get_if<rules::MetadataList>(&value.value)) {
    auto& values = *out.mutable_list_value();
    for (const rules::MetadataValue& each : *list) write_value(each, *values.add_values());
  } else if (const auto* map = std::get_if<rules::MetadataMap>(&value.value)) {
    merge(*map, *out.mutable_struct_value());
  } else {
    out.set_null_value(google::protobuf::NULL_VALUE);
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
void merge(const rules::MetadataMap& metadata, google::protobuf::Struct& out) {
  auto& fields = *out.mutable_fields();
  for (const auto& [name, value] : metadata) {
    const auto known = fields.find(name);
    if (known == fields.end()) {
      write_value(value, fields[name]);
      continue;
    }
    const auto* map = std::get_if<rules::MetadataMap>(&value.value);
    if (map != nullptr && known->second.has_struct_value()) {
      merge(*map, *known->second.mutable_struct_value());
    }
  }
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
  if (count > rules::kMaxDescriptors) {
    return invalid_argument("descriptors: " + std::to_string(count) + " are more than " +
                            std::to_string(rules::kMaxDescriptors));
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
                                     std::string(to_string(static_cast<answer::EnvoyUnit>(unit))));
    }
    if (descriptor.has_hits_addend()) {
      told["hitsAddend"].set_number_value(static_cast<double>(descriptor.hits_addend().value()));
    }
  }
  if (message.hits_addend() > 0) members["hitsAddend"].set_number_value(message.hits_addend());
}

void add_rule_metadata(const service::Answer& answer, const rules::Request* request,
                       google::protobuf::Struct& out) {
  google::protobuf::Struct merged;
  for (std::size_t i = 0; i < answer.match.descriptors.size(); ++i) {
    const answer::EnvoyStatus status = answer::envoy_status(answer, i, request);
    const rules::Rule* const rule = status.over_limit ? nullptr : rule_of(answer, status, i);
    if (rule != nullptr) merge(rule->metadata, merged);
  }
  if (merged.fields().empty()) return;
  *(*out.mutable_fields())["metadata"].mutable_struct_value() = std::move(merged);
}

}  // namespace penstock::wire::grpc
