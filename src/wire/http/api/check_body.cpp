#include "wire/http/api/check_body.hpp"

#include "http/members.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace penstock::http {
namespace {

constexpr std::size_t kMaxName = 1024;

std::string element(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index) + "].";
}

Result<rules::Descriptor> read_attributes(const Json& json, const std::string& place) {
  if (json.size() > rules::kMaxEntries) {
    return Error{ErrorCode::InvalidInput, place + ": " + std::to_string(json.size()) +
                                              " attributes; at most " +
                                              std::to_string(rules::kMaxEntries)};
  }
  rules::Descriptor descriptor;
  for (const auto& [name, value] : json.items()) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr) {
      return Error{ErrorCode::InvalidInput,
                   place + "." + name.substr(0, 64) + ": " + shown_json(value) + " must be a text"};
    }
    descriptor.entries.push_back({.name = name, .value = *text});
  }
  return descriptor;
}

Result<rules::Attribute> read_entry(const Json& json, std::string place) {
  Members members(json, std::move(place));
  const std::string_view key = members.required_text("key", kMaxName);
  const std::string_view value = members.text("value").value_or("");
  const Result<void> read = members.finish();
  if (!read) return read.error();
  return rules::Attribute{.name = key, .value = value};
}

Result<rules::Descriptor> read_descriptor(const Json& json, std::string place) {
  Members members(json, std::move(place));
  rules::Descriptor descriptor;
  const Json* entries = members.array("entries", rules::kMaxEntries);
  descriptor.cost = members.cost();
  descriptor.limit = members.quota();
  if (entries == nullptr || entries->empty()) members.complain("entries", "must not be empty");
  const Result<void> read = members.finish();
  if (!read) return read.error();
  for (std::size_t i = 0; i < entries->size(); ++i) {
    Result<rules::Attribute> entry =
        read_entry((*entries)[i], element(members.place_of("entries"), i));
    if (!entry) return entry.error();
    descriptor.entries.push_back(*entry);
  }
  return descriptor;
}

Result<std::vector<rules::Descriptor>> read_descriptors(const Json& json,
                                                        const std::string& place) {
  std::vector<rules::Descriptor> descriptors;
  for (std::size_t i = 0; i < json.size(); ++i) {
    Result<rules::Descriptor> descriptor = read_descriptor(json[i], element(place, i));
    if (!descriptor) return descriptor.error();
    descriptors.push_back(std::move(*descriptor));
  }
  return descriptors;
}

}  // namespace

Result<rules::Request> read_check(const Json& json, std::string place) {
  Members members(json, std::move(place));
  rules::Request request{.domain = members.required_text("domain", kMaxName), .descriptors = {}};
  const Json* attributes = members.object("attributes");
  const Json* descriptors = members.array("descriptors", rules::kMaxDescriptors);
  request.cost = members.cost().value_or(Cost{});
  if (attributes != nullptr && descriptors != nullptr) {
    members.complain("descriptors", "not together with attributes");
  }
  if (attributes == nullptr && (descriptors == nullptr || descriptors->empty())) {
    members.complain("attributes", "missing; or give descriptors");
  }
  const Result<void> read = members.finish();
  if (!read) return read.error();
  if (attributes != nullptr) {
    Result<rules::Descriptor> descriptor =
        read_attributes(*attributes, members.place_of("attributes"));
    if (!descriptor) return descriptor.error();
    request.descriptors.push_back(std::move(*descriptor));
    return request;
  }
  Result<std::vector<rules::Descriptor>> list =
      read_descriptors(*descriptors, members.place_of("descriptors"));
  if (!list) return list.error();
  request.descriptors = std::move(*list);
  return request;
}

Result<std::vector<rules::Request>> read_checks(const Json& json) {
  const Json* checks = &json;
  if (json.is_object()) {
    Members members(json, "");
    checks = members.array("checks", kMaxChecks);
    if (checks == nullptr) members.complain("checks", "missing");
    const Result<void> read = members.finish();
    if (!read) return read.error();
  }
  if (!checks->is_array() || checks->empty() || checks->size() > kMaxChecks) {
    return Error{ErrorCode::InvalidInput,
                 "checks: must be an array of 1 to " + std::to_string(kMaxChecks) + " checks"};
  }
  std::vector<rules::Request> requests;
  for (std::size_t i = 0; i < checks->size(); ++i) {
    Result<rules::Request> request = read_check((*checks)[i], element("checks", i));
    if (!request) return request.error();
    requests.push_back(std::move(*request));
  }
  return requests;
}

}  // namespace penstock::http
