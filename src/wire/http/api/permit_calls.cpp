// Concurrency limits: a permit is acquired, kept while it is renewed, and released.
#include "http/json_object_reader.hpp"
#include "http/json_writer.hpp"
#include "http/problem.hpp"
#include "service/random_id.hpp"
#include "wire/http/api/call.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

using core::PermitResult;
using store::PermitName;
using store::PermitStore;

struct PermitRequest {
  PermitName permit;
  std::uint32_t limit = 0;
  Duration lasts{};
};

enum class PermitOperation { Acquire, Renew, Release };

Result<PermitRequest> read_permit(const Request& request, PermitOperation operation) {
  const Result<Json> json = parse_json(request.body);
  if (!json) return json.error();
  JsonObjectReader object(*json, "");
  PermitRequest asked;
  asked.permit.key = object.required_text("key", kMaxKeyBytes);
  if (operation != PermitOperation::Acquire || (json->is_object() && json->contains("id"))) {
    asked.permit.id = object.required_text("id", PermitStore::kMaxIdLength);
  }
  if (operation == PermitOperation::Acquire) {
    const auto limit = object.parse_number("limit", std::uint64_t{PermitStore::kMaxPermits});
    if (!limit || *limit == 0) object.add_error("limit", "missing; how many at a time, at least 1");
    asked.limit = static_cast<std::uint32_t>(limit.value_or(0));
  }
  if (operation != PermitOperation::Release) {
    const auto lasts =
        object.duration("ttl", std::chrono::milliseconds{1}, PermitStore::kMaxLifetime);
    asked.lasts = lasts.value_or(PermitStore::kDefaultLifetime);
  }
  const Result<void> read = object.finish();
  if (!read) return read.error();
  if (asked.permit.id.empty()) asked.permit.id = service::random_id();
  return asked;
}

std::int64_t whole_milliseconds(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

Response permit_response(const PermitRequest& asked, const PermitResult& answer) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().name("key").text(asked.permit.key).name("id").text(asked.permit.id);
  writer.name("in_use").number(answer.taken);
  if (asked.limit > 0) writer.name("limit").number(asked.limit);
  writer.name("expires_after_ms").number(whole_milliseconds(answer.lasts)).end_object();
  return json_response(200, std::move(text));
}

Response no_permit(const PermitRequest& asked, const PermitResult& answer) {
  const std::string detail = std::to_string(answer.taken) + " of " + std::to_string(asked.limit) +
                             " permits of " + quote(asked.permit.key) + " are taken";
  std::string more;
  JsonWriter writer(more);
  writer.name("key").text(asked.permit.key).name("in_use").number(answer.taken);
  writer.name("limit").number(asked.limit);
  writer.name("retry_after_ms").number(whole_milliseconds(answer.lasts));
  Response response = problem_response({.status = 429, .detail = detail}, more);
  const std::int64_t wait = std::max<std::int64_t>(ceil_seconds(answer.lasts).count(), 1);
  response.fields.emplace_back("Retry-After", std::to_string(wait));
  return response;
}

Response permit_not_found(const PermitName& permit) {
  return problem_response({.status = 404,
                           .detail = quote(permit.id) + " has no permit of " + quote(permit.key) +
                                     ": it expired, was released, or never taken"});
}

}  // namespace

void acquire(Call call) {
  const Result<PermitRequest> asked = read_permit(call.request, PermitOperation::Acquire);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.stores().permits.acquire(
      asked->permit, asked->limit, asked->lasts, call.request.deadline,
      [asked = *asked, respond = std::move(call.respond)](const Result<PermitResult>& answer) {
        if (!answer) return respond(problem_of(answer.error()));
        respond(answer->held ? permit_response(asked, *answer) : no_permit(asked, *answer));
      });
}

void renew(Call call) {
  const Result<PermitRequest> asked = read_permit(call.request, PermitOperation::Renew);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.stores().permits.renew(
      asked->permit, asked->lasts, call.request.deadline,
      [asked = *asked, respond = std::move(call.respond)](const Result<PermitResult>& answer) {
        if (!answer) return respond(problem_of(answer.error()));
        respond(answer->held ? permit_response(asked, *answer) : permit_not_found(asked.permit));
      });
}

void release(Call call) {
  const Result<PermitRequest> asked = read_permit(call.request, PermitOperation::Release);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.stores().permits.release(
      asked->permit, call.request.deadline,
      [permit = asked->permit, respond = std::move(call.respond)](const Result<bool>& was_held) {
        if (!was_held) return respond(problem_of(was_held.error()));
        Json json;
        json["key"] = permit.key;
        json["id"] = permit.id;
        json["was_held"] = *was_held;
        respond(json_response(200, json));
      });
}

}  // namespace penstock::http
