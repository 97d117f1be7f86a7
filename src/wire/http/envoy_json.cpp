#include "wire/http/envoy_json.hpp"

#include "core/strictest.hpp"
#include "wire/http/check_body.hpp"
#include "wire/http/members.hpp"
#include "wire/http/problem.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace penstock::wire::http {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};

// By their numbers in envoy.type.v3.RateLimitUnit; WEEK is only of answers.
constexpr std::array kUnits{Unit{"UNKNOWN", Duration{0}},
                            Unit{"SECOND", std::chrono::seconds{1}},
                            Unit{"MINUTE", std::chrono::minutes{1}},
                            Unit{"HOUR", std::chrono::hours{1}},
                            Unit{"DAY", Days{1}},
                            Unit{"MONTH", Days{30}},
                            Unit{"YEAR", Days{365}},
                            Unit{"WEEK", Days{7}}};
constexpr std::uint64_t kLargestUnit = 6;

constexpr std::uint64_t kUnlimitedRemaining = 4'294'967'295;

Error refused(std::string text) { return {ErrorCode::InvalidInput, std::move(text)}; }

// A member under either of its names. Both at once are a complaint.
const Json* either(Members& members, std::string_view camel, std::string_view snake) {
  const Json* first = members.any(camel);
  const Json* second = members.any(snake);
  if (first != nullptr && second != nullptr) members.complain(snake, "given under two names");
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

std::optional<Duration> unit_length(const Json& json) {
  if (const auto* name = json.get_ptr<const std::string*>()) {
    for (std::size_t i = 1; i <= kLargestUnit; ++i) {
      if (kUnits[i].name == *name) return kUnits[i].length;
    }
    return std::nullopt;
  }
  const std::optional<std::uint64_t> index = number(json, kLargestUnit);
  if (!index || *index == 0) return std::nullopt;
  return kUnits[*index].length;
}

// A limit that travels with the request counts as the reference server does: by fixed windows.
Result<Quota> read_override(const Json& json) {
  Members members(json, "limit.");
  const Json* count = either(members, "requestsPerUnit", "requests_per_unit");
  const Json* unit = members.any("unit");
  const Result<void> read = members.finish();
  if (!read) return read.error();
  const std::optional<std::uint64_t> limit =
      count == nullptr ? std::nullopt : number(*count, std::numeric_limits<std::uint32_t>::max());
  const std::optional<Duration> period = unit == nullptr ? std::nullopt : unit_length(*unit);
  if (!limit || !period) return refused("limit: needs requestsPerUnit and a known unit");
  return Quota::make(per(static_cast<std::int64_t>(*limit), *period).fixed_window());
}

Result<rules::Attribute> read_entry(const Json& json) {
  Members members(json, "entries.");
  const rules::Attribute entry{.name = members.text("key").value_or(""),
                               .value = members.text("value").value_or("")};
  const Result<void> read = members.finish();
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
  Members members(json, "descriptors.");
  const Json* entries = members.array("entries", kMaxEntries);
  const Json* limit = members.object("limit");
  const Json* hits = either(members, "hitsAddend", "hits_addend");
  const Json* negative = either(members, "isNegativeHits", "is_negative_hits");
  Result<void> read = members.finish();
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
    if (!units) return refused("hitsAddend: " + shown_json(*hits));
    descriptor.cost = Cost{*units};
  }
  if (negative != nullptr && !negative->is_boolean()) return refused("isNegativeHits");
  descriptor.gives_back = negative != nullptr && negative->get<bool>();
  return descriptor;
}

enum class Which { Enforced, Shadow };

// The strictest of the limits that hold for a descriptor: Envoy knows one status for each.
std::optional<std::size_t> strictest_of(const service::Answer& answer, std::size_t descriptor,
                                        Which which) {
  std::vector<Decision> decisions;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < answer.limits.size(); ++i) {
    const service::LimitAnswer& limit = answer.limits[i];
    if (limit.applied.descriptor != descriptor || !limit.decision) continue;
    if (limit.shadow != (which == Which::Shadow)) continue;
    decisions.push_back(*limit.decision);
    places.push_back(i);
  }
  if (decisions.empty()) return std::nullopt;
  return places[core::strictest(decisions).decided_by()];
}

// A limit in shadow speaks only where no other does.
std::optional<std::size_t> deciding(const service::Answer& answer, std::size_t descriptor) {
  const auto enforced = strictest_of(answer, descriptor, Which::Enforced);
  return enforced ? enforced : strictest_of(answer, descriptor, Which::Shadow);
}

Json current_limit(const rules::Applied& applied) {
  Json json;
  json["requestsPerUnit"] = applied.check.quota.limit();
  for (const Unit& unit : kUnits) {
    if (unit.length == applied.check.quota.period()) json["unit"] = unit.name;
  }
  if (applied.rule != nullptr && !applied.rule->given_name.empty()) {
    json["name"] = applied.rule->given_name;
  }
  return json;
}

// Whole seconds, at least one: Envoy drops the rest.
std::string until_reset(const Decision& decision) {
  const Duration wait = decision.allowed()
                            ? decision.reset_after()
                            : decision.retry_after().value_or(decision.reset_after());
  return std::to_string(std::max(ceil_seconds(wait), std::chrono::seconds{1}).count()) + "s";
}

Json status_of(const service::Answer& answer, std::size_t descriptor) {
  Json status;
  const std::optional<std::size_t> place = deciding(answer, descriptor);
  if (!place) {
    const rules::Said said = descriptor < answer.match.descriptors.size()
                                 ? answer.match.descriptors[descriptor]
                                 : rules::Said::NoRule;
    status["code"] = said == rules::Said::Denied ? "OVER_LIMIT" : "OK";
    if (said == rules::Said::Unlimited) status["limitRemaining"] = kUnlimitedRemaining;
    return status;
  }
  const service::LimitAnswer& limit = answer.limits[*place];
  const Decision& decision = *limit.decision;
  const bool over = !decision.allowed() && !limit.shadow;
  status["code"] = over ? "OVER_LIMIT" : "OK";
  status["currentLimit"] = current_limit(limit.applied);
  if (decision.allowed() && decision.remaining() > 0) {
    status["limitRemaining"] = decision.remaining();
  }
  status["durationUntilReset"] = until_reset(decision);
  return status;
}

}  // namespace

Result<rules::Request> read_envoy_request(const Json& json) {
  Members members(json, "");
  rules::Request request{.domain = members.text("domain").value_or(""), .descriptors = {}};
  const Json* descriptors = members.array("descriptors", kMaxDescriptors);
  const Json* hits = either(members, "hitsAddend", "hits_addend");
  const Result<void> read = members.finish();
  if (!read) return read.error();
  if (request.domain.empty()) return refused("domain: must not be empty");
  if (descriptors == nullptr || descriptors->empty()) {
    return refused("descriptors: must not be empty");
  }
  if (hits != nullptr) {
    const auto units = number(*hits, std::numeric_limits<std::uint32_t>::max());
    if (!units) return refused("hitsAddend: " + shown_json(*hits));
    request.cost = Cost{std::max<std::uint64_t>(*units, 1)};
  }
  for (const Json& element : *descriptors) {
    Result<rules::Descriptor> descriptor = read_descriptor(element);
    if (!descriptor) return descriptor.error();
    request.descriptors.push_back(std::move(*descriptor));
  }
  return request;
}

Json envoy_response(const service::Answer& answer, std::size_t descriptors) {
  Json json;
  json["overallCode"] = answer.allowed ? "OK" : "OVER_LIMIT";
  Json& statuses = json["statuses"] = Json::array();
  for (std::size_t i = 0; i < descriptors; ++i) statuses.push_back(status_of(answer, i));
  return json;
}

Response envoy_answer(const service::Answer& answer, std::size_t descriptors) {
  Response response =
      json_response(answer.allowed ? 200 : 429, envoy_response(answer, descriptors));
  response.body.pop_back();  // its line end, which the reference server does not write
  return response;
}

Response envoy_bad_request() {
  return {.status = 400,
          .fields = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = "Bad Request\n"};
}

}  // namespace penstock::wire::http
