#include "rules/yaml/rollout_format.hpp"

#include "rules/yaml/rule_keys.hpp"

#include <chrono>

namespace penstock::rules {
namespace {

constexpr Duration kMinOver = std::chrono::seconds{10};
constexpr Duration kMaxOver = std::chrono::hours{1};
constexpr std::int64_t kMaxMinRequests = 1'000'000'000;
constexpr BasisPoints kSmallest = 1;

// Empty, and reported, when it is not a percentage from `least` to `most`.
std::optional<BasisPoints> read_percent(const YamlNode& node, BasisPoints least, BasisPoints most) {
  const std::optional<BasisPoints> share =
      node.is_text() ? parse_percent(node.raw()) : std::nullopt;
  if (share && *share >= least && *share <= most) return share;
  node.expected("a percentage from " + percent_text(least) + " to " + percent_text(most) +
                ", such as 10% or 0.25%");
  return std::nullopt;
}

std::optional<AbortCondition> read_abort(const YamlNode& node) {
  if (!node.is_map()) {
    node.expected("a map such as {denied_above: 5%, over: 1m}");
    return std::nullopt;
  }
  const YamlFields fields(node, keys::kAbort);
  AbortCondition condition;
  const auto bound = fields.require("denied_above");
  const auto share = bound ? read_percent(*bound, kSmallest, kWhole - 1) : std::nullopt;
  if (const auto over = fields.find("over")) {
    condition.over = over->duration(kMinOver, kMaxOver).value_or(condition.over);
  }
  fields.read_number("min_requests", 1, kMaxMinRequests, condition.min_requests);
  if (!share) return std::nullopt;
  condition.denied_above = *share;
  return condition;
}

// `node` is that of enforce.
void warn_of_enforce(const YamlNode& node, BasisPoints enforce, const Rule& rule) {
  const std::string written = "enforce: " + percent_text(enforce);
  if (rule.shadow) {
    node.warning(written + " has no effect with shadow: true, which enforces the rule for no one");
  } else if (enforce < kWhole && rule.key.empty()) {
    node.warning(written +
                 " of a rule without a key: all requests are one subject, so the rule "
                 "stays in shadow mode below 100%; add a key");
  } else if (enforce < kWhole && rule.if_missing == IfMissing::Deny) {
    node.warning(written +
                 " with if_missing: deny: requests without the key are not denied until "
                 "enforce is 100%");
  }
}

}  // namespace

void read_rollout(const YamlFields& fields, Rule& rule) {
  if (const auto near = fields.find("near_limit")) {
    rule.near_limit = read_percent(*near, kSmallest, kWhole).value_or(0);
  }
  const auto enforce = fields.find("enforce");
  const auto abort = fields.find("abort");
  Rollout rollout;
  if (enforce) {
    rollout.enforce = read_percent(*enforce, 0, kWhole).value_or(kWhole);
    warn_of_enforce(*enforce, rollout.enforce, rule);
  }
  if (abort) {
    rollout.abort = read_abort(*abort);
    if (!enforce) {
      abort->warning(
          "abort without enforce: the rule is enforced for all subjects at once; begin "
          "with enforce: 1%");
    }
  }
  if (!rule.shadow && (rollout.enforce < kWhole || rollout.abort)) rule.rollout = rollout;
}

}  // namespace penstock::rules
