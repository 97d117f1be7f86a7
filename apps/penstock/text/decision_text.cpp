#include "apps/penstock/text/decision_text.hpp"

#include "core/duration_text.hpp"

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

Style style_of(bool passes) { return passes ? Style::Good : Style::Bad; }

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string as_paragraph(const CheckInfo& check_info, const Decision& decision, Colour colour) {
  std::string text =
      mark(outcome_text(check_info, decision), style_of(decision.allowed()), colour) + "\n";
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

std::string as_line(std::int64_t turn, const Decision& decision, Colour colour) {
  const std::string number = std::to_string(turn);
  std::string text(kTurnWidth - std::min(kTurnWidth, number.size()), ' ');
  text += number + "  " +
          mark(decision.allowed() ? "allowed" : "denied ", style_of(decision.allowed()), colour);
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

}  // namespace penstock::app
