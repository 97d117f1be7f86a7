// Requests that the rules of the configuration decide.
#include "wire/resp/check_reply.hpp"
#include "wire/resp/commands.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

// The largest integer that JSON numbers hold in every language, as over HTTP.
constexpr std::int64_t kMaxCost = std::int64_t{1} << 53U;

}  // namespace

// PENSTOCK.CHECK domain [attribute value …] [COST n]. A pair called COST, in any case, that stands
// last is the cost. In RESP2 an array, in RESP3 a map of:
//   0  denied          1 when denied, 0 when allowed, as in CL.THROTTLE
//   1  limit           burst of the limit that decided; -1 for none
//   2  remaining       -1 for none
//   3  retry_after_ms  until the same cost is allowed; -1 when allowed, and when it never is
//   4  reset_after_ms  until the usage is zero; -1 for none
//   5  rule            "domain/rule" that decided; null for none
//   6  reason          as over HTTP: within_limits, over_limit, no_rule, failed_open …
// When the store is unavailable, the failure policy of the rule applies.
void penstock_check(const CommandContext& context) {
  std::size_t end = context.size();
  if (end % 2 != 0) return context.error(wrong_arity("penstock.check"));
  rules::Request request{.domain = context.word(1), .descriptors = {}};
  if (end >= 4 && equals_ignoring_case(context.word(end - 2), "cost")) {
    const std::optional<std::int64_t> cost = parse_number(context.word(end - 1));
    if (!cost || *cost < 0 || *cost > kMaxCost) {
      return context.error("ERR COST must be a whole number from 0 to 9007199254740992");
    }
    request.cost = Cost{static_cast<std::uint64_t>(*cost)};
    end -= 2;
  }
  rules::Descriptor descriptor;
  for (std::size_t i = 2; i < end; i += 2) {
    descriptor.entries.push_back({.name = context.word(i), .value = context.word(i + 1)});
  }
  request.descriptors.push_back(std::move(descriptor));
  context.server_context().service.decide(
      request, context.deadline(), [deferred = context.defer()](const service::Answer& answer) {
        deferred.reply([&](ReplyWriter& reply) {
          NamedReply named(reply, kCheckReplyParts);
          write(named, check_reply_of(answer));
        });
      });
}

namespace {

std::string name_of(const rules::Rule* rule) {
  return rule == nullptr ? std::string{} : rule->domain + "/" + rule->name;
}

}  // namespace

std::int64_t in_milliseconds(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

CheckReply check_reply_of(const service::Answer& answer) {
  CheckReply check_reply{
      .denied = answer.allowed ? 0 : 1,
      .rule = name_of(answer.match.list_entry != nullptr ? answer.match.list_entry
                                                         : answer.match.missing_key_rule),
      .reason = to_string(answer.reason)};
  if (!answer.strictest) return check_reply;
  const service::LimitAnswer& strictest = answer.limits[*answer.strictest];
  check_reply.rule = name_of(strictest.matched.rule);
  if (!strictest.decision) return check_reply;
  const Decision& decision = *strictest.decision;
  check_reply.limit = decision.limit();
  check_reply.remaining = decision.remaining();
  check_reply.reset_after_ms = in_milliseconds(decision.reset_after());
  const std::optional<Duration> wait = decision.retry_after();
  if (!answer.allowed && wait) check_reply.retry_after_ms = in_milliseconds(*wait);
  return check_reply;
}

void write(NamedReply& reply, const CheckReply& check_reply) {
  reply.number("denied", check_reply.denied);
  reply.number("limit", check_reply.limit);
  reply.number("remaining", check_reply.remaining);
  reply.number("retry_after_ms", check_reply.retry_after_ms);
  reply.number("reset_after_ms", check_reply.reset_after_ms);
  reply.text("rule", check_reply.rule);
  reply.text("reason", check_reply.reason);
}

}  // namespace penstock::wire::resp
