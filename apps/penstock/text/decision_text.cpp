#include "apps/penstock/text/decision_text.hpp"

#include "core/duration_text.hpp"
#include "core/quota_math.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;

// Width of the turn number.
constexpr std::size_t kTurnWidth = 4;

std::string left_of_limit(const Decision& decision) {
  return std::to_string(decision.remaining()) + " of " + std::to_string(decision.limit());
}

std::string reset_text(const Decision& decision) {
  return decision.reset_after() == Duration{0}
             ? "nothing used"
             : "in " + core::rounded_up_text(decision.reset_after());
}

std::string retry_text(const Decision& decision) {
  if (decision.allowed()) return "now";
  const auto wait = decision.retry_after();
  return wait ? "in " + core::rounded_up_text(*wait) : "never";
}

std::string outcome_text(const CheckInfo& check_info, const Decision& decision) {
  switch (decision.outcome()) {
    case Outcome::Allowed: return "allowed";
    case Outcome::Denied: return "denied";
    case Outcome::NeverFits:
      return "denied: cost " + std::to_string(check_info.cost.units) +
             " is more than can ever pass at once, " + std::to_string(decision.limit());
    case Outcome::Blocked: return "denied: the key is blocked";
  }
  return "unknown";
}

std::string title_of(const rules::Rule* rule) {
  return rule == nullptr ? "a limit of the request itself" : rule->domain + "/" + rule->name;
}

bool denies(const rules::MatchedLimit& matched, const Decision& now) {
  if (matched.is_refund || (matched.rule != nullptr && matched.rule->shadow)) return false;
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

// The same name as on the admin port.
void write_terms(Json& limit, const core::SharingTerms& terms) {
  limit["mode"] = to_string(terms.mode);
  if (terms.mode == core::Mode::Exact) return;
  if (terms.mode == core::Mode::Local) {
    limit["share"] = terms.divided ? "nodes" : "none";
  } else {
    limit["lease_lifetime_ms"] =
        std::chrono::ceil<std::chrono::milliseconds>(terms.lifetime).count();
  }
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

std::string limit_line(const rules::MatchedLimit& matched, const Decision* now) {
  std::string line =
      "    " + title_of(matched.rule) + ": " + to_string(matched.check.quota) + ", counted for ";
  line += matched.check.name.subject.empty() ? "all clients" : matched.check.name.subject;
  line += ", takes " + std::to_string(matched.check.cost.units);
  if (matched.rule != nullptr && matched.rule->shadow) line += ", shadow: never enforced";
  line += mode_words(matched.check.terms) + "\n" + max_line(matched.check.quota);
  if (now == nullptr) return line;
  line += "      now: " + std::to_string(now->remaining()) + " of " + std::to_string(now->limit()) +
          " left";
  if (now->outcome() == Outcome::Blocked) line += ", blocked by hand";
  if (now->reset_after() > Duration{0})
    line += ", all free in " + core::rounded_up_text(now->reset_after());
  return line + (denies(matched, *now) ? ": would deny\n" : ": would pass\n");
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string as_paragraph(const CheckInfo& check_info, const Decision& decision) {
  std::string text = outcome_text(check_info, decision) + "\n";
  text += "  key        " + std::string(check_info.key) + "\n";
  if (!check_info.rule.empty()) text += "  rule       " + std::string(check_info.rule) + "\n";
  text += "  limit      " + std::to_string(check_info.quota.limit()) + " per " +
          core::exact_text(check_info.quota.period());
  if (check_info.quota.capacity() != check_info.quota.limit()) {
    text += ", burst " + std::to_string(check_info.quota.capacity());
  }
  text += "\n  algorithm  " + std::string(to_string(check_info.quota.algorithm())) + "\n";
  text += "  remaining  " + left_of_limit(decision) + "\n";
  text += "  reset      " + reset_text(decision) + "\n";
  if (!decision.allowed()) text += "  retry      " + retry_text(decision) + "\n";
  return text;
}

std::string as_line(std::int64_t turn, const Decision& decision) {
  const std::string number = std::to_string(turn);
  std::string text(kTurnWidth - std::min(kTurnWidth, number.size()), ' ');
  text += number + (decision.allowed() ? "  allowed" : "  denied ");
  text += "  remaining " + left_of_limit(decision) + "  reset " + reset_text(decision);
  if (!decision.allowed()) text += "  retry " + retry_text(decision);
  return text;
}

std::string as_json(const CheckInfo& check_info, const Decision& decision) {
  Json json;
  json["key"] = check_info.key;
  if (!check_info.rule.empty()) json["rule"] = check_info.rule;
  json["allowed"] = decision.allowed();
  json["outcome"] = to_string(decision.outcome());
  json["algorithm"] = to_string(check_info.quota.algorithm());
  json["limit"] = decision.limit();
  json["remaining"] = decision.remaining();
  json["reset_after_us"] = decision.reset_after().count();
  const auto wait = decision.retry_after();
  json["retry_after_us"] = wait ? Json(wait->count()) : Json(nullptr);
  return json_text(json);
}

bool would_pass(const Explained& explained) {
  const rules::Match& match = explained.explanation->match;
  if (match.missing_key_rule != nullptr || match.unknown_domain_denied) return false;
  if (match.list_entry != nullptr) return match.list_entry->action != rules::Action::Deny;
  for (std::size_t i = 0; i < explained.decisions.size(); ++i) {
    if (denies(match.limits[i], explained.decisions[i])) return false;
  }
  return true;
}

std::string as_text(const Explained& explained) {
  const rules::Match& match = explained.explanation->match;
  std::string text;
  if (!match.domain_known) {
    return "There is no domain \"" + std::string(explained.request->domain) +
           (match.unknown_domain_denied ? "\": the request is denied (unknown_domain: deny)."
                                        : "\": nothing limits the request.");
  }
  text += "Rules of " + std::string(explained.request->domain) + ":\n";
  for (const rules::RuleReport& each : explained.explanation->rules) {
    text += std::string(each.matched ? "  + " : "  - ") + each.rule->name;
    if (!each.reason.empty()) text += ": " + each.reason;
    text += "\n";
  }
  if (explained.explanation->cut_short) text += "  ... and more\n";
  if (match.list_entry != nullptr) {
    const bool denied = match.list_entry->action == rules::Action::Deny;
    return text + "On the " + (denied ? "deny" : "allow") + " list: " + match.list_entry->name;
  }
  if (match.missing_key_rule != nullptr) {
    return text + "Denied by " + match.missing_key_rule->name +
           ": an attribute of its key is missing.";
  }
  if (match.limits.empty()) return text + "No limit applies: the request passes.";
  text += "Limits that apply:\n";
  for (std::size_t i = 0; i < match.limits.size(); ++i) {
    const bool known = i < explained.decisions.size();
    text += limit_line(match.limits[i], known ? &explained.decisions[i] : nullptr);
  }
  if (explained.decisions.empty()) return text + "Usage was not read (--store).";
  return text +
         (would_pass(explained) ? "The request would pass." : "The request would be denied.");
}

std::string as_json(const Explained& explained) {
  const rules::Match& match = explained.explanation->match;
  Json rules = Json::array();
  for (const rules::RuleReport& each : explained.explanation->rules) {
    rules.push_back(
        {{"rule", each.rule->name}, {"matched", each.matched}, {"reason", each.reason}});
  }
  Json limits = Json::array();
  for (std::size_t i = 0; i < match.limits.size(); ++i) {
    const rules::MatchedLimit& matched = match.limits[i];
    Json limit{{"rule", matched.rule == nullptr ? "" : matched.rule->name},
               {"quota", to_string(matched.check.quota)},
               {"subject", matched.check.name.subject},
               {"name", matched.check.name.limit},
               {"cost", matched.check.cost.units},
               {"max_in_period", core::max_in_any_period(matched.check.quota)},
               {"shadow", matched.rule != nullptr && matched.rule->shadow}};
    write_terms(limit, matched.check.terms);
    if (i < explained.decisions.size()) {
      limit["remaining"] = explained.decisions[i].remaining();
      limit["would_deny"] = denies(matched, explained.decisions[i]);
    }
    limits.push_back(std::move(limit));
  }
  Json json{{"domain", explained.request->domain},
            {"domain_known", match.domain_known},
            {"rules", std::move(rules)},
            {"limits", std::move(limits)}};
  if (match.list_entry != nullptr) json["listed_by"] = match.list_entry->name;
  if (match.missing_key_rule != nullptr) json["missing_by"] = match.missing_key_rule->name;
  const bool known =
      match.list_entry != nullptr || match.limits.empty() || !explained.decisions.empty();
  if (known) json["allowed"] = would_pass(explained);
  return json_text(json, 2);
}

}  // namespace penstock::app
