#include "wire/http/api/check_body.hpp"

#include "http/json_object_reader.hpp"
#include "wire/http/api/call.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace penstock::http {
namespace {

constexpr std::size_t kMaxName = 1024;

std::string element(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index) + "].";
}

Result<rules::Descriptor> read_attributes(const Json& json, const std::string& path) {
  if (json.size() > rules::kMaxEntries) {
    return Error{ErrorCode::InvalidInput, path + ": " + std::to_string(json.size()) +
                                              " attributes; at most " +
                                              std::to_string(rules::kMaxEntries)};
  }
  rules::Descriptor descriptor;
  for (const auto& [name, value] : json.items()) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr) {
      return Error{ErrorCode::InvalidInput,
                   path + "." + name.substr(0, 64) + ": " + quote_json(value) + " must be a text"};
    }
    descriptor.entries.push_back({.name = name, .value = *text});
  }
  return descriptor;
}

Result<rules::Attribute> read_entry(const Json& json, std::string path) {
  JsonObjectReader object(json, std::move(path));
  const std::string_view key = object.required_text("key", kMaxName);
  const std::string_view value = object.text("value").value_or("");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  return rules::Attribute{.name = key, .value = value};
}

Result<rules::Descriptor> read_descriptor(const Json& json, std::string path) {
  JsonObjectReader object(json, std::move(path));
  rules::Descriptor descriptor;
  const Json* entries = object.array("entries", rules::kMaxEntries);
  descriptor.cost = object.cost();
  descriptor.limit = object.quota();
  if (entries == nullptr || entries->empty()) object.add_error("entries", "must not be empty");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  for (std::size_t i = 0; i < entries->size(); ++i) {
    Result<rules::Attribute> entry =
        read_entry((*entries)[i], element(object.path_of("entries"), i));
    if (!entry) return entry.error();
    descriptor.entries.push_back(*entry);
  }
  return descriptor;
}

Result<std::vector<rules::Descriptor>> read_descriptors(const Json& json, const std::string& path) {
  std::vector<rules::Descriptor> descriptors;
  for (std::size_t i = 0; i < json.size(); ++i) {
    Result<rules::Descriptor> descriptor = read_descriptor(json[i], element(path, i));
    if (!descriptor) return descriptor.error();
    descriptors.push_back(std::move(*descriptor));
  }
  return descriptors;
}

rules::OnFailure read_on_failure(JsonObjectReader& object, rules::OnFailure usual) {
  const std::optional<std::string_view> written = object.text("on_failure");
  if (!written) return usual;
  const std::string_view word = *written;
  if (word == "open") return rules::OnFailure::Open;
  if (word == "local") return rules::OnFailure::Local;
  if (word != "closed") {
    object.add_error("on_failure", quote(word) + " must be open, closed or local");
  }
  return rules::OnFailure::Closed;
}

}  // namespace

Result<rules::Request> read_check(const Json& json, std::string path) {
  JsonObjectReader object(json, std::move(path));
  rules::Request request{.domain = object.required_text("domain", kMaxName), .descriptors = {}};
  const Json* attributes = object.object("attributes");
  const Json* descriptors = object.array("descriptors", rules::kMaxDescriptors);
  request.cost = object.cost().value_or(Cost{});
  if (attributes != nullptr && descriptors != nullptr) {
    object.add_error("descriptors", "not allowed with attributes");
  }
  if (attributes == nullptr && (descriptors == nullptr || descriptors->empty())) {
    object.add_error("attributes", "missing; or give descriptors");
  }
  const Result<void> read = object.finish();
  if (!read) return read.error();
  if (attributes != nullptr) {
    Result<rules::Descriptor> descriptor =
        read_attributes(*attributes, object.path_of("attributes"));
    if (!descriptor) return descriptor.error();
    request.descriptors.push_back(std::move(*descriptor));
    return request;
  }
  Result<std::vector<rules::Descriptor>> list =
      read_descriptors(*descriptors, object.path_of("descriptors"));
  if (!list) return list.error();
  request.descriptors = std::move(*list);
  return request;
}

Result<std::vector<rules::Request>> read_checks(const Json& json) {
  const Json* checks = &json;
  if (json.is_object()) {
    JsonObjectReader object(json, "");
    checks = object.array("checks", kMaxChecks);
    if (checks == nullptr) object.add_error("checks", "missing");
    const Result<void> read = object.finish();
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

Result<TakeRequest> read_take(const Json& json, rules::OnFailure on_failure) {
  JsonObjectReader object(json, "");
  std::string key(object.required_text("key", kMaxKeyBytes));
  const std::optional<Quota> quota = object.quota();
  const Cost cost = object.cost().value_or(Cost{});
  const rules::OnFailure chosen = read_on_failure(object, on_failure);
  if (!quota) object.add_error("limit", "missing; as in 100/m");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  return TakeRequest{
      .check = {.name = {.subject = std::move(key), .limit = {}}, .quota = *quota, .cost = cost},
      .on_failure = chosen};
}

}  // namespace penstock::http
