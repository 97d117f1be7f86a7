// Costs that are known only afterwards: the estimate is reserved, and settled with the actual cost.
#include "answer/check_response.hpp"
#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/check_body.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

using service::ReserveResult;
using service::SettleResult;

constexpr Duration kUsualTtl = std::chrono::minutes{1};

// "id" and "ttl", which are taken out of the body: the rest is that of a check.
Result<service::ReservationRequest> read_terms(Json& json) {
  Json own = Json::object();
  for (const char* const name : {"id", "ttl"}) {
    if (!json.is_object() || !json.contains(name)) continue;
    own[name] = json[name];
    json.erase(name);
  }
  JsonObjectReader object(own, "");
  service::ReservationRequest terms;
  if (own.contains("id")) {
    terms.id = object.required_text("id", store::ReservationStore::kMaxIdLength);
  }
  terms.lasts =
      object.duration("ttl", std::chrono::milliseconds{1}, store::ReservationStore::kMaxLifetime)
          .value_or(kUsualTtl);
  const Result<void> read = object.finish();
  if (!read) return read.error();
  return terms;
}

std::int64_t in_milliseconds(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

void write_reservation(JsonWriter& writer, const std::string& id, std::uint64_t estimate,
                       Duration left) {
  writer.name("id").text(id).name("state").text("open").name("estimate").number(estimate);
  writer.name("expires_after_ms").number(in_milliseconds(left));
}

Response conflict(const std::string& detail) {
  return problem_response({.status = 409, .detail = detail});
}

Response busy(const std::string& id) {
  Response response =
      conflict("reservation " + quote(id) + ": an earlier call with this id is still in flight");
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

std::string history_of(const std::string& id, store::ReservationState state, std::uint64_t estimate,
                       std::uint64_t actual) {
  std::string text = "reservation " + quote(id) + " is " + std::string(to_string(state)) +
                     " already, with an estimate of " + std::to_string(estimate);
  if (state == store::ReservationState::Committed) {
    text += " and an actual cost of " + std::to_string(actual);
  }
  return text;
}

Response response_to(const ReserveResult& reserved, std::uint64_t estimate,
                     std::span<const rules::HeaderDraft> drafts) {
  using Outcome = ReserveResult::Outcome;
  if (reserved.outcome == Outcome::Busy) return busy(reserved.id);
  if (reserved.outcome == Outcome::Settled) {
    const store::Reservation& known = reserved.known;
    return conflict(history_of(reserved.id, known.state, known.estimate, known.actual));
  }
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  if (reserved.outcome == Outcome::Repeated) {
    write_reservation(writer, reserved.id, estimate, reserved.left);
    writer.name("allowed").boolean(true).name("repeated").boolean(true).end_object();
    return json_response(200, std::move(text));
  }
  const service::Answer& answer = reserved.answer;
  if (!answer.allowed) return answer::response_of(answer, drafts);
  if (!reserved.id.empty()) write_reservation(writer, reserved.id, estimate, reserved.left);
  answer::write_decision(writer, answer);
  writer.end_object();
  Response response = json_response(200, std::move(text));
  answer::add_rate_headers(response.fields, drafts, answer::rate_limit_info(answer));
  return response;
}

store::Answered<ReserveResult> respond_reserved(Call& call, std::uint64_t estimate) {
  return [&settings = call.settings, respond = std::move(call.respond),
          estimate](const Result<ReserveResult>& reserved) {
    if (!reserved) return respond(problem_of(reserved.error()));
    respond(response_to(*reserved, estimate, settings.headers));
  };
}

Response response_to(const std::string& id, const SettleResult& settled) {
  switch (settled.outcome) {
    case SettleResult::Outcome::Done: break;
    case SettleResult::Outcome::Busy: return busy(id);
    case SettleResult::Outcome::Conflict:
      return conflict(history_of(id, settled.state, settled.estimate, settled.actual));
    case SettleResult::Outcome::Unknown:
      return problem_response(
          {.status = 404,
           .detail = "reservation " + quote(id) + " was never made, or is forgotten"});
  }
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().name("id").text(id).name("state").text(to_string(settled.state));
  writer.name("estimate").number(settled.estimate);
  if (settled.state == store::ReservationState::Committed) {
    writer.name("actual").number(settled.actual);
    if (settled.uncharged) writer.name("uncharged").number(*settled.uncharged);
  }
  writer.end_object();
  return json_response(200, std::move(text));
}

store::Answered<SettleResult> tell_settled(std::string id, Handler::Respond respond) {
  return [id = std::move(id), respond = std::move(respond)](const Result<SettleResult>& settled) {
    respond(settled ? response_to(id, *settled) : problem_of(settled.error()));
  };
}

std::string read_id(JsonObjectReader& object) {
  return std::string(object.required_text("id", store::ReservationStore::kMaxIdLength));
}

}  // namespace

void reserve(Call call) {
  Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(problem_of(json.error()));
  Result<service::ReservationRequest> terms = read_terms(*json);
  if (!terms) return call.respond(problem_of(terms.error()));
  if (json->is_object() && json->contains("key")) {
    Result<TakeRequest> asked = read_take(*json, call.settings.on_failure);
    if (!asked) return call.respond(problem_of(asked.error()));
    const std::uint64_t estimate = terms->estimate = asked->check.cost.units;
    return call.backend.reserve(std::move(asked->check), asked->on_failure, *std::move(terms),
                                call.request.deadline, respond_reserved(call, estimate));
  }
  Result<rules::Request> asked = read_check(*json, "");
  if (!asked) return call.respond(problem_of(asked.error()));
  for (const rules::Descriptor& descriptor : asked->descriptors) {
    if (!descriptor.cost) continue;
    return call.respond(problem_of(invalid_input(
        "descriptors: a cost of their own; a reservation has one cost, beside domain")));
  }
  const std::uint64_t estimate = terms->estimate = asked->cost.units;
  call.backend.reserve(*std::move(asked), *std::move(terms), call.request.deadline,
                       respond_reserved(call, estimate));
}

void commit(Call call) {
  const Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(problem_of(json.error()));
  JsonObjectReader object(*json, "");
  const std::string id = read_id(object);
  const std::optional<std::uint64_t> actual = object.parse_number("actual", kMaxCost);
  if (!actual) object.add_error("actual", "missing");
  const Result<void> read = object.finish();
  if (!read) return call.respond(problem_of(read.error()));
  call.backend.commit(id, *actual, call.request.deadline,
                      tell_settled(id, std::move(call.respond)));
}

void cancel(Call call) {
  const Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(problem_of(json.error()));
  JsonObjectReader object(*json, "");
  const std::string id = read_id(object);
  const Result<void> read = object.finish();
  if (!read) return call.respond(problem_of(read.error()));
  call.backend.cancel(id, call.request.deadline, tell_settled(id, std::move(call.respond)));
}

}  // namespace penstock::http
