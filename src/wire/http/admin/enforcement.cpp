#include "wire/http/admin/enforcement.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::http {
namespace {

constexpr std::array<std::string_view, 3> kStates{"enforcing", "degraded", "not_enforcing"};
constexpr std::size_t kMaxNames = 5;

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kMaxNames ? text + ", …" : text;
}

// "3 rules fail open (a, b, c), 1 closed, 2 local"
std::string without_store_text(const EnforcementInput& input) {
  std::vector<std::string> parts;
  if (!input.open.empty()) {
    parts.push_back(count_of(input.open.size(), "rule") +
                    (input.open.size() == 1 ? " fails" : " fail") + " open (" +
                    list_of(input.open) + ")");
  }
  const auto add = [&](std::size_t count, std::string_view how) {
    if (count == 0) return;
    parts.push_back((parts.empty() ? count_of(count, "rule") : std::to_string(count)) + " " +
                    std::string(how));
  };
  add(input.closed, "closed");
  add(input.local, "local");
  add(input.without_store, "without the store");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "; " : ", ") + part;
  return text;
}

void assess_store(const EnforcementInput& input, EnforcementReport& report) {
  if (input.store_error.empty()) return;
  const bool is_partial = input.workers_without_store < input.workers;
  std::string text = is_partial ? std::to_string(input.workers_without_store) + " of " +
                                      count_of(input.workers, "worker") + " cannot reach Redis"
                                : "Redis unreachable";
  text += " since " + time_of_day(input.store_down_since) + ": " + input.store_error;
  text += without_store_text(input);
  const bool is_open = !is_partial && !input.open.empty();
  report.add(is_open ? Enforcement::NotEnforcing : Enforcement::Degraded, std::move(text));
}

}  // namespace

std::string_view to_string(Enforcement state) noexcept {
  return kStates[static_cast<std::size_t>(state)];
}

std::optional<Enforcement> parse_enforcement(std::string_view text) noexcept {
  const auto* const found = std::find(kStates.begin(), kStates.end(), text);
  if (found == kStates.end()) return std::nullopt;
  return static_cast<Enforcement>(found - kStates.begin());
}

void EnforcementReport::add(Enforcement at_least, std::string reason) {
  // the worst first
  const auto place = at_least > state ? reasons.begin() : reasons.end();
  reasons.insert(place, std::move(reason));
  state = std::max(state, at_least);
}

EnforcementReport assess(const EnforcementInput& input) {
  EnforcementReport report;
  assess_store(input, report);
  const std::size_t enforced = input.open.size() + input.closed + input.local + input.without_store;
  if (enforced + input.shadow == 0) {
    report.add(Enforcement::NotEnforcing, "no rule is loaded");
  } else if (enforced == 0) {
    report.add(Enforcement::NotEnforcing, "every rule is in shadow mode");
  }
  if (!input.reload_error.empty()) {
    report.add(Enforcement::Degraded,
               "the last reload failed, the old configuration is in force: " + input.reload_error);
  }
  if (!input.aborted_rollouts.empty()) {
    report.add(Enforcement::Degraded,
               "roll-out aborted, in shadow mode: " + list_of(input.aborted_rollouts));
  }
  return report;
}

std::string time_of_day(Instant at) {
  const auto of_day = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()) %
                      std::chrono::seconds{std::chrono::hours{24}};
  std::string text;
  for (const auto part : {of_day.count() / 3600, of_day.count() / 60 % 60, of_day.count() % 60}) {
    text += (text.empty() ? "" : ":") + std::string(part < 10 ? "0" : "") + std::to_string(part);
  }
  return text;
}

}  // namespace penstock::http
