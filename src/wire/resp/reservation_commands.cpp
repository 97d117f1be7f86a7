// Costs that are known only afterwards. A retry with the same id is told the same.
#include "service/reservations.hpp"
#include "wire/resp/commands.hpp"
#include "wire/resp/told.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

using service::Reserved;
using service::Settled;
using std::chrono::milliseconds;
using store::ReservationBook;

constexpr std::int64_t kMostUnits = 4'294'967'295;  // as over HTTP
constexpr std::size_t kKind = 4;                    // the word KEY or DOMAIN of PENSTOCK.RESERVE

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= ReservationBook::kLongestId;
}

std::string told(std::string_view id, store::ReservationState state, std::uint64_t estimate) {
  return "CONFLICT reservation '" + std::string(id) + "' is " + std::string(to_string(state)) +
         " already, with an estimate of " + std::to_string(estimate);
}

std::string pending(std::string_view id) {
  return "PENDING an earlier call about reservation '" + std::string(id) + "' is still under way";
}

void write_reserved(const Later& later, const Reserved& reserved) {
  using Outcome = Reserved::Outcome;
  if (reserved.outcome == Outcome::Busy) return later.refuse(pending(reserved.id));
  if (reserved.outcome == Outcome::Settled) {
    return later.refuse(told(reserved.id, reserved.known.state, reserved.known.estimate));
  }
  Told answer{.reason = "repeated"};
  if (reserved.outcome == Outcome::Decided) answer = told_of(reserved.answer);
  later.reply([&](ReplyWriter& reply) {
    NamedReply named(reply, kToldParts + 2);
    write(named, answer);
    named.text("id", reserved.id);
    named.number("expires_after_ms", reserved.id.empty() ? -1 : in_milliseconds(reserved.left));
  });
}

void write_settled(const Later& later, std::string_view id, const Settled& settled) {
  switch (settled.outcome) {
    case Settled::Outcome::Done: break;
    case Settled::Outcome::Busy: return later.refuse(pending(id));
    case Settled::Outcome::Conflict: return later.refuse(told(id, settled.state, settled.estimate));
    case Settled::Outcome::Unknown:
      return later.refuse("NOTFOUND reservation '" + std::string(id) +
                          "' was never made, or is forgotten");
  }
  const bool is_committed = settled.state == store::ReservationState::Committed;
  later.reply([&](ReplyWriter& reply) {
    NamedReply named(reply, 4);
    named.text("state", to_string(settled.state));
    named.number("estimate", static_cast<std::int64_t>(settled.estimate));
    named.number("actual", is_committed ? static_cast<std::int64_t>(settled.actual) : 0);
    named.number("uncharged",
                 settled.uncharged ? static_cast<std::int64_t>(*settled.uncharged) : -1);
  });
}

store::Store::Answered<Reserved> tell(Later later) {
  return [later = std::move(later)](const Result<Reserved>& reserved) {
    if (!reserved) return later.fail(reserved.error());
    write_reserved(later, *reserved);
  };
}

void reserve_key(const Exchange& exchange, service::ReservationTerms terms) {
  if (exchange.size() != kKind + 3) return exchange.refuse(wrong_arity("penstock.reserve"));
  const Result<Quota> quota = Quota::parse(exchange.word(kKind + 2));
  if (!quota) return exchange.refuse("ERR " + quota.error().detail);
  if (exchange.word(kKind + 1).empty()) return exchange.refuse("ERR the key is empty");
  exchange.surroundings().service.reserve(
      {.name = {.subject = std::string(exchange.word(kKind + 1)), .limit = {}}, .quota = *quota},
      exchange.surroundings().terms.on_failure.value_or(rules::OnFailure::Closed), std::move(terms),
      exchange.deadline(), tell(exchange.later()));
}

void reserve_by_rules(const Exchange& exchange, service::ReservationTerms terms) {
  if (exchange.size() % 2 != 0) return exchange.refuse(wrong_arity("penstock.reserve"));
  rules::Request request{.domain = exchange.word(kKind + 1), .descriptors = {}};
  rules::Descriptor descriptor;
  for (std::size_t i = kKind + 2; i < exchange.size(); i += 2) {
    descriptor.entries.push_back({.name = exchange.word(i), .value = exchange.word(i + 1)});
  }
  request.descriptors.push_back(std::move(descriptor));
  exchange.surroundings().service.reserve(std::move(request), std::move(terms), exchange.deadline(),
                                          tell(exchange.later()));
}

}  // namespace

// PENSTOCK.RESERVE id estimate ttl_ms KEY key limit
// PENSTOCK.RESERVE id estimate ttl_ms DOMAIN domain [attribute value …]
// An id of * is made up. What PENSTOCK.CHECK replies, and behind it:
//   7  id                null when nothing is reserved: refused, or let pass without the store
//   8  expires_after_ms  -1 for none
// `reason` is "repeated", and numbers are -1, when an earlier call reserved it. Errors: CONFLICT
// when the id was settled or has another estimate, PENDING while an earlier call is under way.
void penstock_reserve(const Exchange& exchange) {
  service::ReservationTerms terms;
  if (exchange.word(1) != "*") {
    if (!is_id(exchange.word(1))) return exchange.refuse("ERR the id must have 1 to 200 bytes");
    terms.id = exchange.word(1);
  }
  const std::optional<std::int64_t> estimate = whole_number(exchange.word(2));
  if (!estimate || *estimate < 0 || *estimate > kMostUnits) {
    return exchange.refuse("ERR the estimate must be a whole number from 0 to 4294967295");
  }
  constexpr auto kMostTtl = std::chrono::duration_cast<milliseconds>(ReservationBook::kLongest);
  const std::optional<std::int64_t> ttl = whole_number(exchange.word(3));
  if (!ttl || *ttl < 1 || *ttl > kMostTtl.count()) {
    return exchange.refuse("ERR the ttl must be a number of milliseconds from 1 to 86400000");
  }
  terms.estimate = static_cast<std::uint64_t>(*estimate);
  terms.lasts = milliseconds{*ttl};
  const bool by_key = is_word(exchange.word(kKind), "key");
  if (!by_key && !is_word(exchange.word(kKind), "domain")) {
    return exchange.refuse("ERR syntax error: expected KEY or DOMAIN");
  }
  if (by_key) return reserve_key(exchange, std::move(terms));
  reserve_by_rules(exchange, std::move(terms));
}

// PENSTOCK.COMMIT id actual. In RESP2 an array, in RESP3 a map of:
//   0  state      "committed"
//   1  estimate
//   2  actual
//   3  uncharged  what the limits had no units for; -1 when that is not known
// Errors: NOTFOUND, CONFLICT when it was settled otherwise, PENDING.
void penstock_commit(const Exchange& exchange) {
  const std::optional<std::int64_t> actual = whole_number(exchange.word(2));
  if (!actual || *actual < 0 || *actual > kMostUnits) {
    return exchange.refuse("ERR the actual cost must be a whole number from 0 to 4294967295");
  }
  if (!is_id(exchange.word(1))) return exchange.refuse("ERR the id must have 1 to 200 bytes");
  std::string id(exchange.word(1));
  exchange.surroundings().service.reservations().commit(
      id, static_cast<std::uint64_t>(*actual), exchange.deadline(),
      [later = exchange.later(), id](const Result<Settled>& settled) {
        if (!settled) return later.fail(settled.error());
        write_settled(later, id, *settled);
      });
}

// PENSTOCK.CANCEL id: as PENSTOCK.COMMIT; `state` is "cancelled", or "expired" when that came
// first.
void penstock_cancel(const Exchange& exchange) {
  if (!is_id(exchange.word(1))) return exchange.refuse("ERR the id must have 1 to 200 bytes");
  std::string id(exchange.word(1));
  exchange.surroundings().service.reservations().cancel(
      id, exchange.deadline(), [later = exchange.later(), id](const Result<Settled>& settled) {
        if (!settled) return later.fail(settled.error());
        write_settled(later, id, *settled);
      });
}

}  // namespace penstock::wire::resp
