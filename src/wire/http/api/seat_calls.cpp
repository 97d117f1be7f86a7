// So many at a time: a seat is taken, kept while it is renewed, and released.
#include "http/json_writer.hpp"
#include "http/members.hpp"
#include "http/problem.hpp"
#include "service/unique_name.hpp"
#include "wire/http/api/call.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

using core::SeatAnswer;
using store::SeatBook;
using store::SeatName;

struct SeatAsked {
  SeatName seat;
  std::uint32_t limit = 0;
  Duration lasts{};
};

enum class Asks { Acquire, Renew, Release };

Result<SeatAsked> read_seat(const Request& request, Asks asks) {
  const Result<Json> json = parse_json(request.body);
  if (!json) return json.error();
  Members members(*json, "");
  SeatAsked asked;
  asked.seat.key = members.required_text("key", kMaxKeyBytes);
  if (asks != Asks::Acquire || (json->is_object() && json->contains("id"))) {
    asked.seat.id = members.required_text("id", SeatBook::kLongestId);
  }
  if (asks == Asks::Acquire) {
    const auto limit = members.whole_number("limit", std::uint64_t{SeatBook::kMostSeats});
    if (!limit || *limit == 0) members.complain("limit", "missing; how many at a time, at least 1");
    asked.limit = static_cast<std::uint32_t>(limit.value_or(0));
  }
  if (asks != Asks::Release) {
    const auto lasts = members.duration("ttl", std::chrono::milliseconds{1}, SeatBook::kLongest);
    asked.lasts = lasts.value_or(SeatBook::kUsual);
  }
  const Result<void> read = members.finish();
  if (!read) return read.error();
  if (asked.seat.id.empty()) asked.seat.id = service::unique_name();
  return asked;
}

std::int64_t whole_milliseconds(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

Response told_of(const SeatAsked& asked, const SeatAnswer& answer) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().name("key").text(asked.seat.key).name("id").text(asked.seat.id);
  writer.name("taken").number(answer.taken);
  if (asked.limit > 0) writer.name("limit").number(asked.limit);
  writer.name("expires_after_ms").number(whole_milliseconds(answer.lasts)).end_object();
  return json_response(200, std::move(text));
}

Response no_seat(const SeatAsked& asked, const SeatAnswer& answer) {
  const std::string detail = std::to_string(answer.taken) + " of " + std::to_string(asked.limit) +
                             " seats of " + shown(asked.seat.key) + " are taken";
  std::string more;
  JsonWriter writer(more);
  writer.name("key").text(asked.seat.key).name("taken").number(answer.taken);
  writer.name("limit").number(asked.limit);
  writer.name("retry_after_ms").number(whole_milliseconds(answer.lasts));
  Response response = problem_response({.status = 429, .detail = detail}, more);
  const std::int64_t wait = std::max<std::int64_t>(ceil_seconds(answer.lasts).count(), 1);
  response.fields.emplace_back("Retry-After", std::to_string(wait));
  return response;
}

Response lost(const SeatName& seat) {
  return problem_response({.status = 404,
                           .detail = shown(seat.id) + " has no seat of " + shown(seat.key) +
                                     ": it expired, was released, or never taken"});
}

}  // namespace

void acquire(Call call) {
  const Result<SeatAsked> asked = read_seat(call.request, Asks::Acquire);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.store().seats().acquire(
      asked->seat, asked->limit, asked->lasts, call.request.deadline,
      [asked = *asked, respond = std::move(call.respond)](const Result<SeatAnswer>& answer) {
        if (!answer) return respond(problem_of(answer.error()));
        respond(answer->held ? told_of(asked, *answer) : no_seat(asked, *answer));
      });
}

void renew(Call call) {
  const Result<SeatAsked> asked = read_seat(call.request, Asks::Renew);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.store().seats().renew(
      asked->seat, asked->lasts, call.request.deadline,
      [asked = *asked, respond = std::move(call.respond)](const Result<SeatAnswer>& answer) {
        if (!answer) return respond(problem_of(answer.error()));
        respond(answer->held ? told_of(asked, *answer) : lost(asked.seat));
      });
}

void release(Call call) {
  const Result<SeatAsked> asked = read_seat(call.request, Asks::Release);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.store().seats().release(
      asked->seat, call.request.deadline,
      [seat = asked->seat, respond = std::move(call.respond)](const Result<bool>& was_held) {
        if (!was_held) return respond(problem_of(was_held.error()));
        Json json;
        json["key"] = seat.key;
        json["id"] = seat.id;
        json["was_held"] = *was_held;
        respond(json_response(200, json));
      });
}

}  // namespace penstock::http
