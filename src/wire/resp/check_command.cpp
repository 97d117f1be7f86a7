// Requests that the rules of the configuration decide.
#include "service/answer.hpp"
#include "wire/resp/commands.hpp"

#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

// What JSON numbers of every language hold, as over HTTP.
constexpr std::int64_t kMaxCost = std::int64_t{1} << 53U;

// As clients are told: -1 for what there is not.
struct Told {
  std::int64_t denied = 0;
  std::int64_t limit = -1;
  std::int64_t remaining = -1;
  std::int64_t retry_after_ms = -1;
  std::int64_t reset_after_ms = -1;
  std::string rule{};  // empty for none
};

std::int64_t in_milliseconds(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

std::string name_of(const rules::Rule* rule) {
  return rule == nullptr ? std::string{} : rule->domain + "/" + rule->name;
}

Told told_of(const service::Answer& answer) {
  Told told{.denied = answer.allowed ? 0 : 1, .rule = name_of(answer.match.listed_by)};
  if (!answer.strictest) return told;
  const service::LimitAnswer& strictest = answer.limits[*answer.strictest];
  told.rule = name_of(strictest.applied.rule);
  if (!strictest.decision) return told;
  const Decision& decision = *strictest.decision;
  told.limit = decision.limit();
  told.remaining = decision.remaining();
  told.reset_after_ms = in_milliseconds(decision.reset_after());
  const std::optional<Duration> wait = decision.retry_after();
  if (!answer.allowed && wait) told.retry_after_ms = in_milliseconds(*wait);
  return told;
}

void write(ReplyWriter& reply, const service::Answer& answer) {
  const Told told = told_of(answer);
  const bool named = reply.version() == penstock::resp::Version::Three;
  const auto name = [&](std::string_view text) {
    if (named) reply.bulk(text);
  };
  const auto number = [&](std::string_view text, std::int64_t value) {
    name(text);
    reply.integer(value);
  };
  if (named) {
    reply.map(7);
  } else {
    reply.array(7);
  }
  number("denied", told.denied);
  number("limit", told.limit);
  number("remaining", told.remaining);
  number("retry_after_ms", told.retry_after_ms);
  number("reset_after_ms", told.reset_after_ms);
  name("rule");
  if (told.rule.empty()) {
    reply.null();
  } else {
    reply.bulk(told.rule);
  }
  name("reason");
  reply.bulk(to_string(answer.reason));
}

}  // namespace

// PENSTOCK.CHECK domain [attribute value …] [COST n]. A pair called COST, in any case, that stands
// last is the cost. In RESP2 an array, in RESP3 a map of:
//   0  denied          1 when refused, 0 when allowed, as CL.THROTTLE has it
//   1  limit           of the limit that answers: what can pass at once; -1 for none
//   2  remaining       what could pass now; -1 for none
//   3  retry_after_ms  until the same passes; -1 when allowed, and when it never will
//   4  reset_after_ms  until nothing counts as used; -1 for none
//   5  rule            "domain/rule" that answers; null for none
//   6  reason          as over HTTP: within_limits, over_limit, no_rule, failed_open …
// When the store cannot be asked, the policy of the rule answers.
void penstock_check(const Exchange& exchange) {
  std::size_t end = exchange.size();
  if (end % 2 != 0) return exchange.refuse(wrong_arity("penstock.check"));
  rules::Request request{.domain = exchange.word(1), .descriptors = {}};
  if (end >= 4 && is_word(exchange.word(end - 2), "cost")) {
    const std::optional<std::int64_t> cost = whole_number(exchange.word(end - 1));
    if (!cost || *cost < 0 || *cost > kMaxCost) {
      return exchange.refuse("ERR COST must be a whole number from 0 to 9007199254740992");
    }
    request.cost = Cost{static_cast<std::uint64_t>(*cost)};
    end -= 2;
  }
  rules::Descriptor descriptor;
  for (std::size_t i = 2; i < end; i += 2) {
    descriptor.entries.push_back({.name = exchange.word(i), .value = exchange.word(i + 1)});
  }
  request.descriptors.push_back(std::move(descriptor));
  exchange.surroundings().service.decide(
      request, exchange.deadline(), [later = exchange.later()](const service::Answer& answer) {
        later.reply([&](ReplyWriter& reply) { write(reply, answer); });
      });
}

}  // namespace penstock::wire::resp
