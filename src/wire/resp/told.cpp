#include "wire/resp/told.hpp"

#include <chrono>

namespace penstock::wire::resp {
namespace {

std::string name_of(const rules::Rule* rule) {
  return rule == nullptr ? std::string{} : rule->domain + "/" + rule->name;
}

}  // namespace

std::int64_t in_milliseconds(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time).count();
}

Told told_of(const service::Answer& answer) {
  Told told{.denied = answer.allowed ? 0 : 1,
            .rule = name_of(answer.match.listed_by != nullptr ? answer.match.listed_by
                                                              : answer.match.missing_by),
            .reason = to_string(answer.reason)};
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

void write(NamedReply& reply, const Told& told) {
  reply.number("denied", told.denied);
  reply.number("limit", told.limit);
  reply.number("remaining", told.remaining);
  reply.number("retry_after_ms", told.retry_after_ms);
  reply.number("reset_after_ms", told.reset_after_ms);
  reply.text("rule", told.rule);
  reply.text("reason", told.reason);
}

}  // namespace penstock::wire::resp
