#include "answer/envoy_status.hpp"
#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "wire/http/api/authorization.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/check_body.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

// The JSON form of Envoy's rate limit service, as envoyproxy/ratelimit has it under POST /json:
// the protobuf JSON of RateLimitRequest and RateLimitResponse.
namespace penstock::http {
namespace {

// A member under either of its names. Both at once are a complaint.
const Json* either(JsonObjectReader& object, std::string_view camel, std::string_view snake) {
  const Json* first = object.any(camel);
  const Json* second = object.any(snake);
  if (first != nullptr && second != nullptr) object.add_error(snake, "given under two names");
  return first != nullptr ? first : second;
}

// A whole number as protobuf writes it: 5, 5.0 or "5".
std::optional<std::uint64_t> number(const Json& json, std::uint64_t most) {
  std::uint64_t value = 0;
  if (json.is_number_unsigned()) {
    value = json.get<std::uint64_t>();
  } else if (const auto* text = json.get_ptr<const std::string*>()) {
    const char* end = text->data() + text->size();
    const auto [stop, failure] = std::from_chars(text->data(), end, value);
    if (failure != std::errc{} || stop != end) return std::nullopt;
  } else if (json.is_number_float()) {
    const auto given = json.get<double>();
    if (!(given >= 0 && given <= static_cast<double>(kMaxCost))) return std::nullopt;
    value = static_cast<std::uint64_t>(given);
    if (static_cast<double>(value) != given) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (value > most) return std::nullopt;
  return value;
}

answer::EnvoyUnit read_unit(const Json& json) {
  if (const auto* name = json.get_ptr<const std::string*>()) {
    return answer::parse_envoy_unit(*name).value_or(answer::EnvoyUnit::Unknown);
  }
  constexpr auto kLargest = static_cast<std::uint64_t>(answer::EnvoyUnit::Year);
  return static_cast<answer::EnvoyUnit>(number(json, kLargest).value_or(0));
}

Result<Quota> read_override(const Json& json) {
  JsonObjectReader object(json, "limit.", OnNull::Ignore);
  const Json* count = either(object, "requestsPerUnit", "requests_per_unit");
  const Json* unit = object.any("unit");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  // JSON of protobuf leaves out zeros
  const std::optional<std::uint64_t> limit =
      count == nullptr ? 0 : number(*count, std::numeric_limits<std::uint32_t>::max());
  if (!limit || unit == nullptr) {
    return invalid_input("limit: needs a known unit, and a requestsPerUnit of 32 bits");
  }
  return answer::quota_of_override(static_cast<std::uint32_t>(*limit), read_unit(*unit));
}

Result<rules::Attribute> read_entry(const Json& json) {
  JsonObjectReader object(json, "entries.", OnNull::Ignore);
  const rules::Attribute entry{.name = object.text("key").value_or(""),
                               .value = object.text("value").value_or("")};
  const Result<void> read = object.finish();
  if (!read) return read.error();
  return entry;
}

Result<void> read_entries(const Json* entries, rules::Descriptor& descriptor) {
  if (entries == nullptr) return {};
  for (const Json& json : *entries) {
    const Result<rules::Attribute> entry = read_entry(json);
    if (!entry) return entry.error();
    descriptor.entries.push_back(*entry);
  }
  return {};
}

Result<rules::Descriptor> read_descriptor(const Json& json) {
  JsonObjectReader object(json, "descriptors.", OnNull::Ignore);
  const Json* entries = object.array("entries", rules::kMaxEntries);
  const Json* limit = object.object("limit");
  const Json* hits = either(object, "hitsAddend", "hits_addend");
  const Json* negative = either(object, "isNegativeHits", "is_negative_hits");
  Result<void> read = object.finish();
  if (!read) return read.error();
  rules::Descriptor descriptor;
  read = read_entries(entries, descriptor);
  if (!read) return read.error();
  if (limit != nullptr) {
    const Result<Quota> quota = read_override(*limit);
    if (!quota) return quota.error();
    descriptor.limit = *quota;
  }
  if (hits != nullptr) {
    const auto units = number(*hits, std::numeric_limits<std::uint64_t>::max());
    if (!units) return invalid_input("hitsAddend: " + quote_json(*hits));
    descriptor.cost = Cost{*units};
  }
  if (negative != nullptr && !negative->is_boolean()) return invalid_input("isNegativeHits");
  descriptor.is_refund = negative != nullptr && negative->get<bool>();
  return descriptor;
}

Json current_limit(const rules::MatchedLimit& matched) {
  Json json;
  json["requestsPerUnit"] = matched.check.quota.limit();
  const answer::EnvoyUnit unit = answer::unit_of(matched.check.quota.period());
  if (unit != answer::EnvoyUnit::Unknown) json["unit"] = to_string(unit);
  if (matched.rule != nullptr && !matched.rule->given_name.empty()) {
    json["name"] = matched.rule->given_name;
  }
  return json;
}

Json status_json(const answer::EnvoyStatus& status) {
  Json json;
  json["code"] = status.over_limit ? "OVER_LIMIT" : "OK";
  if (status.limit != nullptr) json["currentLimit"] = current_limit(status.limit->matched);
  if (status.remaining > 0) json["limitRemaining"] = status.remaining;
  if (status.until_reset.count() > 0) {
    json["durationUntilReset"] = std::to_string(status.until_reset.count()) + "s";
  }
  return json;
}

// Names in lowerCamelCase or snake_case, 64-bit numbers also as texts, enumerations by name or
// number, as protobuf reads them. The texts of the request are the JSON's.
Result<rules::Request> read_envoy_request(const Json& json) {
  JsonObjectReader object(json, "", OnNull::Ignore);
  rules::Request request{.domain = object.text("domain").value_or(""), .descriptors = {}};
  const Json* descriptors = object.array("descriptors", rules::kMaxDescriptors);
  const Json* hits = either(object, "hitsAddend", "hits_addend");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  if (request.domain.empty()) return invalid_input("domain: must not be empty");
  if (descriptors == nullptr || descriptors->empty()) {
    return invalid_input("descriptors: must not be empty");
  }
  if (hits != nullptr) {
    const auto units = number(*hits, std::numeric_limits<std::uint32_t>::max());
    if (!units) return invalid_input("hitsAddend: " + quote_json(*hits));
    request.cost = Cost{std::max<std::uint64_t>(*units, 1)};
  }
  for (const Json& element : *descriptors) {
    Result<rules::Descriptor> descriptor = read_descriptor(element);
    if (!descriptor) return descriptor.error();
    request.descriptors.push_back(std::move(*descriptor));
  }
  return request;
}

// One status for each descriptor; zeros are left out, as protobuf does.
Json envoy_response(const service::Answer& answer, const rules::Request& request) {
  Json json;
  json["overallCode"] = answer.allowed ? "OK" : "OVER_LIMIT";
  Json& statuses = json["statuses"] = Json::array();
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) {
    statuses.push_back(status_json(answer::envoy_status(answer, i, &request)));
  }
  return json;
}

// 200 or 429 with the above.
Response envoy_http_response(const service::Answer& answer, const rules::Request& request) {
  Response response = json_response(answer.allowed ? 200 : 429, envoy_response(answer, request));
  response.body.pop_back();  // its line end, which the reference server does not write
  return response;
}

Response envoy_bad_request() {
  return {.status = 400,
          .fields = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = "Bad Request\n"};
}

}  // namespace

void envoy_check(Call call) {
  Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(envoy_bad_request());
  const auto kept = std::make_shared<const Json>(*std::move(json));
  Result<rules::Request> read = read_envoy_request(*kept);
  if (!read) return call.respond(envoy_bad_request());
  const auto asked = std::make_shared<const rules::Request>(*std::move(read));
  const bool is_refund =
      std::any_of(asked->descriptors.begin(), asked->descriptors.end(),
                  [](const rules::Descriptor& descriptor) { return descriptor.is_refund; });
  if (is_refund) {
    // the same right as for a refund of a key
    Caller caller = authorize_write(call.request, call.settings.tokens);
    if (caller.rejected) return call.respond(*std::move(caller.rejected));
  }
  call.backend.decide(
      *asked, call.request.deadline,
      [kept, asked, respond = std::move(call.respond)](const service::Answer& answer) {
        respond(envoy_http_response(answer, *asked));
      });
}

}  // namespace penstock::http
