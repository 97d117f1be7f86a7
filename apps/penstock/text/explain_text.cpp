#include "apps/penstock/text/explain_text.hpp"

#include "core/duration_text.hpp"
#include "core/quota_math.hpp"

namespace penstock::app {
namespace {

using Settled = ExplainReport::Settled;

bool is_shadow(const rules::MatchedLimit& matched) {
  return matched.shadow || (matched.rule != nullptr && matched.rule->shadow);
}

bool denies(const rules::MatchedLimit& matched, const Decision& now) {
  if (matched.is_refund || is_shadow(matched)) return false;
  return !now.allowed() || matched.check.cost.units > now.remaining();
}

// Empty for the default mode: every request calls the store.
std::string mode_words(const core::SharingTerms& terms) {
  const std::string mode(to_string(terms.mode));
  switch (terms.mode) {
    case core::Mode::Exact: break;
    case core::Mode::Lease:
    case core::Mode::LeaseStrict:
    case core::Mode::Adaptive:
      return ", " + mode + ": leases of " + core::exact_text(terms.lifetime);
    case core::Mode::Local: return ", " + mode + (terms.divided ? ": this node's share" : "");
  }
  return {};
}

// Empty if a period never admits more than the limit.
std::string max_line(const Quota& quota) {
  const std::uint64_t most = core::max_in_any_period(quota);
  if (most <= quota.limit()) return {};
  std::string line =
      "      up to " + std::to_string(most) + " in any " + core::exact_text(quota.period());
  if (!quota.is_bucket()) return line + ": the end of one window and the beginning of the next\n";
  return line + ": " + std::to_string(quota.capacity()) +
         " at once, and those that refill; burst: " + "1 admits at an even rate\n";
}

std::string usage_line(const ExplainReport::Limit& limit, Colour colour) {
  const Decision& now = *limit.now;
  std::string line = "      now: " + std::to_string(now.remaining()) + " of " +
                     std::to_string(now.limit()) + " left";
  if (now.outcome() == Outcome::Blocked) line += ", blocked by hand";
  if (now.reset_after() > Duration{0}) {
    line += ", all free in " + core::rounded_up_text(now.reset_after());
  }
  return line + ": " +
         (limit.denies ? paint("would deny", Style::Bad, colour)
                       : paint("would pass", Style::Good, colour)) +
         "\n";
}

std::string limit_lines(const ExplainReport::Limit& limit, Colour colour) {
  const std::string title = limit.rule.empty() ? "a limit of the request itself" : limit.rule;
  std::string lines = "    " + paint(title, Style::Bold, colour) + ": " + to_string(limit.quota) +
                      ", counted for " + (limit.subject.empty() ? "all clients" : limit.subject);
  if (limit.cost) lines += ", takes " + std::to_string(limit.cost->units);
  if (limit.shadow) lines += ", shadow: not enforced";
  if (!limit.live_override.empty()) lines += ", override: " + limit.live_override;
  lines += limit.mode + "\n" + max_line(limit.quota);
  return limit.now ? lines + usage_line(limit, colour) : lines;
}

std::string rule_line(const ExplainReport::Rule& rule, Colour colour) {
  std::string line = rule.matched ? paint("  + ", Style::Good, colour) : "  - ";
  line += rule.name;
  if (!rule.source.file.empty()) {
    const std::string place = rule.source.file + ":" + std::to_string(rule.source.line);
    line += paint(" (" + place + ")", Style::Faint, colour);
  }
  return line + (rule.reason.empty() ? "\n" : ": " + rule.reason + "\n");
}

// The rule or list that settles a request without limits; empty if there is none.
std::string settled_text(const ExplainReport& report, Colour colour) {
  switch (report.settled) {
    case Settled::ByLimits: return {};
    case Settled::UnknownDomain:
      return "There is no domain \"" + report.domain +
             (report.allowed.value_or(true) ? "\": nothing limits the request."
                                            : "\": the request is denied (unknown_domain: deny).");
    case Settled::DenyList:
      return mark("On the deny list: " + report.settled_by, Style::Bad, colour);
    case Settled::AllowList:
      return mark("On the allow list: " + report.settled_by, Style::Good, colour);
    case Settled::MissingAttribute:
      return mark("Denied by " + report.settled_by + ": an attribute of its key is missing.",
                  Style::Bad, colour);
  }
  return {};
}

Settled settled_by_match(const rules::Match& match) {
  if (!match.domain_known) return Settled::UnknownDomain;
  if (match.missing_key_rule != nullptr) return Settled::MissingAttribute;
  if (match.list_entry == nullptr) return Settled::ByLimits;
  return match.list_entry->action == rules::Action::Deny ? Settled::DenyList : Settled::AllowList;
}

ExplainReport::Limit limit_of(const rules::MatchedLimit& matched, const Decision* now) {
  const rules::Rule* rule = matched.rule;
  ExplainReport::Limit limit{.rule = rule == nullptr ? "" : rule->domain + "/" + rule->name,
                             .quota = matched.check.quota,
                             .subject = std::string(matched.check.name.subject),
                             .cost = matched.check.cost,
                             .shadow = is_shadow(matched),
                             .mode = mode_words(matched.check.terms)};
  if (now != nullptr) {
    limit.now = *now;
    limit.denies = denies(matched, *now);
  }
  return limit;
}

}  // namespace

bool would_pass(const Explained& explained) {
  const rules::Match& match = explained.explanation->match;
  if (match.missing_key_rule != nullptr || match.unknown_domain_denied) return false;
  if (match.list_entry != nullptr) return match.list_entry->action != rules::Action::Deny;
  for (std::size_t i = 0; i < explained.decisions.size(); ++i) {
    if (denies(match.limits[i], explained.decisions[i])) return false;
  }
  return true;
}

ExplainReport report_of(const Explained& explained) {
  const rules::Match& match = explained.explanation->match;
  ExplainReport report{.domain = std::string(explained.request->domain),
                       .truncated = explained.explanation->cut_short,
                       .settled = settled_by_match(match)};
  for (const rules::RuleReport& each : explained.explanation->rules) {
    report.rules.push_back({.name = each.rule->name,
                            .matched = each.matched,
                            .reason = each.reason,
                            .source = each.rule->source});
  }
  if (match.list_entry != nullptr) report.settled_by = match.list_entry->name;
  if (match.missing_key_rule != nullptr) report.settled_by = match.missing_key_rule->name;
  for (std::size_t i = 0; i < match.limits.size(); ++i) {
    const bool known = i < explained.decisions.size();
    report.limits.push_back(limit_of(match.limits[i], known ? &explained.decisions[i] : nullptr));
  }
  const bool known =
      report.settled != Settled::ByLimits || match.limits.empty() || !explained.decisions.empty();
  if (known) report.allowed = would_pass(explained);
  return report;
}

std::string as_text(const ExplainReport& report, Colour colour) {
  if (report.settled == Settled::UnknownDomain) return settled_text(report, colour);
  std::string text = "Rules of " + report.domain + ":\n";
  for (const ExplainReport::Rule& rule : report.rules) text += rule_line(rule, colour);
  if (report.truncated) text += "  ... and more\n";
  if (report.settled != Settled::ByLimits) return text + settled_text(report, colour);
  if (report.limits.empty()) {
    return text + mark("No limit applies: the request passes.", Style::Good, colour);
  }
  text += "Limits that apply:\n";
  for (const ExplainReport::Limit& limit : report.limits) text += limit_lines(limit, colour);
  if (!report.allowed) return text + "Usage was not read (--store).";
  if (!report.without_store.empty()) {
    text += mark("The store is unavailable: on_failure decides (" + report.without_store + ").",
                 Style::Bad, colour) +
            "\n";
  }
  return text + (*report.allowed ? mark("The request would pass.", Style::Good, colour)
                                 : mark("The request would be denied.", Style::Bad, colour));
}

}  // namespace penstock::app
