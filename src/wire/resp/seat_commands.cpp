// So many at a time: seats that are taken, renewed and released.
#include "service/unique_name.hpp"
#include "wire/resp/commands.hpp"
#include "wire/resp/told.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

using core::SeatAnswer;
using std::chrono::milliseconds;
using store::SeatBook;
using store::SeatName;

constexpr std::string_view kWrongTtl =
    "ERR the ttl must be a number of milliseconds from 1 to 86400000";

// Empty, and refused, when it cannot be one.
std::optional<SeatName> read_seat(const Exchange& exchange) {
  SeatName seat{.key = std::string(exchange.word(1)), .id = std::string(exchange.word(2))};
  if (seat.key.empty()) {
    exchange.refuse("ERR the key is empty");
    return std::nullopt;
  }
  if (seat.id.empty() || seat.id.size() > SeatBook::kLongestId) {
    exchange.refuse("ERR the id must have 1 to 200 bytes");
    return std::nullopt;
  }
  return seat;
}

std::optional<Duration> read_ttl(std::string_view text) {
  constexpr auto kMost = std::chrono::duration_cast<milliseconds>(SeatBook::kLongest);
  const std::optional<std::int64_t> ttl = whole_number(text);
  if (!ttl || *ttl < 1 || *ttl > kMost.count()) return std::nullopt;
  return milliseconds{*ttl};
}

}  // namespace

// PENSTOCK.ACQUIRE key id limit ttl_ms. An id of * is made up; who has a seat keeps it. In RESP2 an
// array, in RESP3 a map of:
//   0  denied            1 when all seats are taken, else 0
//   1  id                null when denied
//   2  taken             seats that are taken now
//   3  limit
//   4  expires_after_ms  -1 when denied
//   5  retry_after_ms    until a seat is free if nobody renews or releases; -1 when there was one
// When the store cannot be asked, the reply is an error, never a denial.
void penstock_acquire(const Exchange& exchange) {
  std::optional<SeatName> seat = read_seat(exchange);
  if (!seat) return;
  if (seat->id == "*") seat->id = service::unique_name();
  const std::optional<std::int64_t> limit = whole_number(exchange.word(3));
  if (!limit || *limit < 1 || *limit > SeatBook::kMostSeats) {
    return exchange.refuse("ERR the limit must be a whole number from 1 to 1000000");
  }
  const std::optional<Duration> ttl = read_ttl(exchange.word(4));
  if (!ttl) return exchange.refuse(kWrongTtl);
  exchange.store().seats().acquire(
      *seat, static_cast<std::uint32_t>(*limit), *ttl, exchange.deadline(),
      [later = exchange.later(), id = seat->id, limit = *limit](const Result<SeatAnswer>& answer) {
        if (!answer) return later.fail(answer.error());
        const std::int64_t time = in_milliseconds(answer->lasts);
        later.reply([&](ReplyWriter& reply) {
          NamedReply named(reply, 6);
          named.number("denied", answer->held ? 0 : 1);
          named.text("id", answer->held ? std::string_view(id) : std::string_view{});
          named.number("taken", answer->taken);
          named.number("limit", limit);
          named.number("expires_after_ms", answer->held ? time : -1);
          named.number("retry_after_ms", answer->held ? -1 : time);
        });
      });
}

// PENSTOCK.RENEW key id ttl_ms: milliseconds until the seat expires; -1 when he has none.
void penstock_renew(const Exchange& exchange) {
  const std::optional<SeatName> seat = read_seat(exchange);
  if (!seat) return;
  const std::optional<Duration> ttl = read_ttl(exchange.word(3));
  if (!ttl) return exchange.refuse(kWrongTtl);
  exchange.store().seats().renew(
      *seat, *ttl, exchange.deadline(),
      [later = exchange.later()](const Result<SeatAnswer>& answer) {
        if (!answer) return later.fail(answer.error());
        later.reply([&](ReplyWriter& reply) {
          reply.integer(answer->held ? in_milliseconds(answer->lasts) : -1);
        });
      });
}

// PENSTOCK.RELEASE key id: 1 when he had a seat, else 0.
void penstock_release(const Exchange& exchange) {
  const std::optional<SeatName> seat = read_seat(exchange);
  if (!seat) return;
  exchange.store().seats().release(
      *seat, exchange.deadline(), [later = exchange.later()](const Result<bool>& was_held) {
        if (!was_held) return later.fail(was_held.error());
        later.reply([&](ReplyWriter& reply) { reply.integer(*was_held ? 1 : 0); });
      });
}

}  // namespace penstock::wire::resp
