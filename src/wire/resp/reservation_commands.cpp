// Costs that are known only afterwards. A retry with the same id gets the same reply.
#include "service/reservations.hpp"
#include "wire/resp/check_reply.hpp"
#include "wire/resp/commands.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

using service::ReserveResult;
using service::SettleResult;
using std::chrono::milliseconds;
using store::ReservationStore;

constexpr std::int64_t kMostUnits = 4'294'967'295;  // as over HTTP
constexpr std::size_t kKind = 4;                    // the word KEY or DOMAIN of PENSTOCK.RESERVE

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= ReservationStore::kMaxIdLength;
}

std::string settled_error(std::string_view id, store::ReservationState state,
                          std::uint64_t estimate) {
  return "CONFLICT reservation '" + std::string(id) + "' is " + std::string(to_string(state)) +
         " already, with an estimate of " + std::to_string(estimate);
}

std::string pending(std::string_view id) {
  return "PENDING an earlier call about reservation '" + std::string(id) + "' is still in flight";
}

void write_reserved(const DeferredReply& deferred, const ReserveResult& reserved) {
  using Outcome = ReserveResult::Outcome;
  if (reserved.outcome == Outcome::Busy) return deferred.error(pending(reserved.id));
  if (reserved.outcome == Outcome::Settled) {
    return deferred.error(
        settled_error(reserved.id, reserved.known.state, reserved.known.estimate));
  }
  CheckReply answer{.reason = "repeated"};
  if (reserved.outcome == Outcome::Decided) answer = check_reply_of(reserved.answer);
  deferred.reply([&](ReplyWriter& reply) {
    NamedReply named(reply, kCheckReplyParts + 2);
    write(named, answer);
    named.text("id", reserved.id);
    named.number("expires_after_ms", reserved.id.empty() ? -1 : in_milliseconds(reserved.left));
  });
}

void write_settled(const DeferredReply& deferred, std::string_view id,
                   const SettleResult& settled) {
  switch (settled.outcome) {
    case SettleResult::Outcome::Done: break;
    case SettleResult::Outcome::Busy: return deferred.error(pending(id));
    case SettleResult::Outcome::Conflict:
      return deferred.error(settled_error(id, settled.state, settled.estimate));
    case SettleResult::Outcome::Unknown:
      return deferred.error("NOTFOUND reservation '" + std::string(id) +
                            "' was never made, or is forgotten");
  }
  const bool is_committed = settled.state == store::ReservationState::Committed;
  deferred.reply([&](ReplyWriter& reply) {
    NamedReply named(reply, 4);
    named.text("state", to_string(settled.state));
    named.number("estimate", static_cast<std::int64_t>(settled.estimate));
    named.number("actual", is_committed ? static_cast<std::int64_t>(settled.actual) : 0);
    named.number("uncharged",
                 settled.uncharged ? static_cast<std::int64_t>(*settled.uncharged) : -1);
  });
}

store::Answered<ReserveResult> tell(DeferredReply deferred) {
  return [deferred = std::move(deferred)](const Result<ReserveResult>& reserved) {
    if (!reserved) return deferred.fail(reserved.error());
    write_reserved(deferred, *reserved);
  };
}

void reserve_key(const CommandContext& context, service::ReservationRequest settings) {
  if (context.size() != kKind + 3) return context.error(wrong_arity("penstock.reserve"));
  const Result<Quota> quota = Quota::parse(context.word(kKind + 2));
  if (!quota) return context.error("ERR " + quota.error().detail);
  if (context.word(kKind + 1).empty()) return context.error("ERR the key is empty");
  context.server_context().service.reserve(
      {.name = {.subject = std::string(context.word(kKind + 1)), .limit = {}}, .quota = *quota},
      context.server_context().settings.on_failure.value_or(rules::OnFailure::Closed),
      std::move(settings), context.deadline(), tell(context.defer()));
}

void reserve_by_rules(const CommandContext& context, service::ReservationRequest settings) {
  if (context.size() % 2 != 0) return context.error(wrong_arity("penstock.reserve"));
  rules::Request request{.domain = context.word(kKind + 1), .descriptors = {}};
  rules::Descriptor descriptor;
  for (std::size_t i = kKind + 2; i < context.size(); i += 2) {
    descriptor.entries.push_back({.name = context.word(i), .value = context.word(i + 1)});
  }
  request.descriptors.push_back(std::move(descriptor));
  context.server_context().service.reserve(std::move(request), std::move(settings),
                                           context.deadline(), tell(context.defer()));
}

}  // namespace

// PENSTOCK.RESERVE id estimate ttl_ms KEY key limit
// PENSTOCK.RESERVE id estimate ttl_ms DOMAIN domain [attribute value …]
// An id of * is generated. The reply of PENSTOCK.CHECK, followed by:
//   7  id                null when nothing is reserved: denied, or failed open
//   8  expires_after_ms  -1 for none
// `reason` is "repeated", and numbers are -1, when an earlier call reserved it. Errors: CONFLICT
// when the id was settled or has another estimate, PENDING while an earlier call is in flight.
void penstock_reserve(const CommandContext& context) {
  service::ReservationRequest settings;
  if (context.word(1) != "*") {
    if (!is_id(context.word(1))) return context.error("ERR the id must have 1 to 200 bytes");
    settings.id = context.word(1);
  }
  const std::optional<std::int64_t> estimate = parse_number(context.word(2));
  if (!estimate || *estimate < 0 || *estimate > kMostUnits) {
    return context.error("ERR the estimate must be a whole number from 0 to 4294967295");
  }
  constexpr auto kMostTtl =
      std::chrono::duration_cast<milliseconds>(ReservationStore::kMaxLifetime);
  const std::optional<std::int64_t> ttl = parse_number(context.word(3));
  if (!ttl || *ttl < 1 || *ttl > kMostTtl.count()) {
    return context.error("ERR the ttl must be a number of milliseconds from 1 to 86400000");
  }
  settings.estimate = static_cast<std::uint64_t>(*estimate);
  settings.lasts = milliseconds{*ttl};
  const bool by_key = equals_ignoring_case(context.word(kKind), "key");
  if (!by_key && !equals_ignoring_case(context.word(kKind), "domain")) {
    return context.error("ERR syntax error: expected KEY or DOMAIN");
  }
  if (by_key) return reserve_key(context, std::move(settings));
  reserve_by_rules(context, std::move(settings));
}

// PENSTOCK.COMMIT id actual. In RESP2 an array, in RESP3 a map of:
//   0  state      "committed"
//   1  estimate
//   2  actual
//   3  uncharged  units that the limits did not have; -1 when unknown
// Errors: NOTFOUND, CONFLICT when it was settled otherwise, PENDING.
void penstock_commit(const CommandContext& context) {
  const std::optional<std::int64_t> actual = parse_number(context.word(2));
  if (!actual || *actual < 0 || *actual > kMostUnits) {
    return context.error("ERR the actual cost must be a whole number from 0 to 4294967295");
  }
  if (!is_id(context.word(1))) return context.error("ERR the id must have 1 to 200 bytes");
  std::string id(context.word(1));
  context.server_context().service.commit(
      id, static_cast<std::uint64_t>(*actual), context.deadline(),
      [deferred = context.defer(), id](const Result<SettleResult>& settled) {
        if (!settled) return deferred.fail(settled.error());
        write_settled(deferred, id, *settled);
      });
}

// PENSTOCK.CANCEL id: as PENSTOCK.COMMIT; `state` is "cancelled", or "expired" when that came
// first.
void penstock_cancel(const CommandContext& context) {
  if (!is_id(context.word(1))) return context.error("ERR the id must have 1 to 200 bytes");
  std::string id(context.word(1));
  context.server_context().service.cancel(
      id, context.deadline(),
      [deferred = context.defer(), id](const Result<SettleResult>& settled) {
        if (!settled) return deferred.fail(settled.error());
        write_settled(deferred, id, *settled);
      });
}

}  // namespace penstock::wire::resp
