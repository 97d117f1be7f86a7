// Named numbers that limit nothing: an integer and a decimal under each name, kept apart.
#include "base/join.hpp"
#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "penstock/decimal.hpp"
#include "wire/http/api/call.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

using Kind = store::CounterKind;

constexpr std::size_t kNameSegment = 2;  // of /v1/counters/{name}
constexpr Duration kLongestLifetime = Days{36'500};

struct Addition {
  Kind kind = Kind::Integer;
  std::int64_t delta = 0;
  std::optional<Duration> lifetime{};
};

Result<std::string> name_of(const Call& call) {
  const Result<void> query = Parameters(call.request.query).finish();
  if (!query) return query.error();
  return name_in_path(call.segments[kNameSegment], "name");
}

// A JSON number is an integer; a decimal is a text, for no JSON number is exact in all languages.
Result<Addition> read_amount(const Json& json) {
  if (json.is_number_unsigned() && json.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}) {
    return Addition{.kind = Kind::Integer, .delta = json.get<std::int64_t>()};
  }
  if (json.is_number_integer() && !json.is_number_unsigned()) {
    return Addition{.kind = Kind::Integer, .delta = json.get<std::int64_t>()};
  }
  const auto* text = json.get_ptr<const std::string*>();
  if (text == nullptr) {
    return Error{ErrorCode::InvalidInput,
                 "add: " + quote_json(json) +
                     " must be a whole number of 64 bits, or a decimal as a text: \"0.25\""};
  }
  const Result<Decimal> decimal = Decimal::parse(*text);
  if (!decimal) return Error{decimal.error().code, "add: " + decimal.error().detail};
  return Addition{.kind = Kind::Decimal, .delta = decimal->nanos()};
}

Result<Addition> read_addition(const Request& request) {
  const Result<Json> json = parse_json(request.body);
  if (!json) return json.error();
  JsonObjectReader object(*json, "");
  const Json* amount = object.any("add");
  const auto lifetime = object.duration("ttl", std::chrono::milliseconds{1}, kLongestLifetime);
  if (amount == nullptr) object.add_error("add", "missing");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  Result<Addition> addition = read_amount(*amount);
  if (addition) addition->lifetime = lifetime;
  return addition;
}

void put_value(Json& json, Kind kind, std::int64_t value) {
  if (kind == Kind::Integer) {
    json["integer"] = value;
  } else {
    json["decimal"] = to_string(Decimal::from_nanos(value));
  }
}

// Both numbers of a name, read at the same time.
struct CounterPair {
  Json json{};
  std::optional<Error> failure{};
  Handler::Respond respond;
  base::Join reads{[this] { respond(failure ? problem_of(*failure) : json_response(200, json)); }};

  void put(Kind kind, const Result<std::int64_t>& value) {
    if (value) {
      put_value(json, kind, *value);
    } else {
      failure = value.error();
    }
    reads.finish_one();
  }
};

}  // namespace

void add_to_counter(Call call) {
  const Result<std::string> name = name_of(call);
  if (!name) return call.respond(problem_of(name.error()));
  const Result<Addition> addition = read_addition(call.request);
  if (!addition) return call.respond(problem_of(addition.error()));
  call.backend.stores().counters.add(
      addition->kind, *name, addition->delta, addition->lifetime, call.request.deadline,
      [kind = addition->kind, name = *name,
       respond = std::move(call.respond)](const Result<std::int64_t>& value) {
        if (!value) return respond(problem_of(value.error()));
        Json json;
        json["name"] = name;
        put_value(json, kind, *value);
        respond(json_response(200, json));
      });
}

void read_counter(Call call) {
  const Result<std::string> name = name_of(call);
  if (!name) return call.respond(problem_of(name.error()));
  const std::shared_ptr<CounterPair> both(new CounterPair{.respond = std::move(call.respond)});
  both->json["name"] = *name;
  both->json["integer"] = 0;  // in this order, whichever answers first
  both->json["decimal"] = "0";
  both->reads.add();
  for (const Kind kind : {Kind::Integer, Kind::Decimal}) {
    both->reads.add();
    call.backend.stores().counters.get(
        kind, *name, call.request.deadline,
        [both, kind](const Result<std::int64_t>& value) { both->put(kind, value); });
  }
  both->reads.finish_one();
}

void remove_counter(Call call) {
  const Result<std::string> name = name_of(call);
  if (!name) return call.respond(problem_of(name.error()));
  call.backend.stores().counters.remove(
      *name, call.request.deadline,
      [name = *name, respond = std::move(call.respond)](const Result<bool>& existed) {
        if (!existed) return respond(problem_of(existed.error()));
        Json json;
        json["name"] = name;
        json["existed"] = *existed;
        respond(json_response(200, json));
      });
}

}  // namespace penstock::http
