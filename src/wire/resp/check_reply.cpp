#include "wire/resp/check_reply.hpp"

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
