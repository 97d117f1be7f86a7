#include "rules/envoy/envoy_matcher.hpp"

#include "base/in_place.hpp"
#include "rules/model/count_names.hpp"

#include <unordered_set>
#include <utility>

namespace penstock::rules {
namespace {

using Names = std::unordered_set<std::string_view>;

Cost cost_of(const Request& request, const Descriptor& descriptor) {
  return descriptor.cost.value_or(request.cost);
}

// Every limit that was found counts, one without a limit of its own and one that is replaced as
// well.
template <class Ways>
Names replaced_by(const Ways& ways) {
  Names names;
  for (const auto& way : ways) {
    if (way.empty()) continue;
    const std::vector<std::string>& replaces = way.back().node->replaces();
    if (replaces.empty()) continue;
    names.insert(replaces.begin(), replaces.end());
  }
  return names;
}

Said said_of(const Rule& rule, const Names& replaced) {
  if (rule.action == Action::Unlimited) return Said::Unlimited;
  if (!rule.given_name.empty() && replaced.contains(rule.given_name)) return Said::Replaced;
  return Said::Limited;
}

}  // namespace

EnvoyMatcher::EnvoyMatcher(std::string domain, EnvoyNode root, std::vector<EnvoyPath> paths)
    : domain_(std::move(domain)), root_(std::move(root)), paths_(std::move(paths)) {}

EnvoyMatcher::Ways EnvoyMatcher::ways_of(const Request& request) const {
  Ways ways;
  ways.reserve(request.descriptors.size());
  std::string scratch;
  for (const Descriptor& descriptor : request.descriptors) {
    EnvoyWay& way = ways.emplace_back();
    if (descriptor.limit.has_value()) continue;
    way = walk(root_, descriptor.entries, scratch);
    if (!way.empty() && way.back().node->rule() == nullptr) way.clear();
  }
  return ways;
}

void EnvoyMatcher::match(const Request& request, Match& match) const {
  apply(request, ways_of(request), match);
}

void EnvoyMatcher::apply(const Request& request, const Ways& ways, Match& match) const {
  const Names replaced = replaced_by(ways);
  match.limits.reserve(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Descriptor& descriptor = request.descriptors[i];
    if (descriptor.limit.has_value()) {
      match.descriptors[i] = Said::Limited;
      match.limits.emplace_back(base::InPlace([&] { return applied_by_request(request, i); }));
      continue;
    }
    if (ways[i].empty()) continue;
    const Rule& rule = *ways[i].back().node->rule();
    match.descriptors[i] = said_of(rule, replaced);
    if (match.descriptors[i] != Said::Limited) continue;
    match.limits.emplace_back(base::InPlace([&] { return applied_by_rule(request, i, ways[i]); }));
  }
}

Applied EnvoyMatcher::applied_by_rule(const Request& request, std::size_t descriptor,
                                      const EnvoyWay& way) const {
  const Rule& rule = *way.back().node->rule();
  const Descriptor& asked = request.descriptors[descriptor];
  const auto value_of = [](const EnvoyStep& step) {
    return step.shared ? shared_value(step) : step.entry->value;
  };
  std::size_t length = 2 * way.size() - 1;
  for (const EnvoyStep& step : way) length += step.entry->name.size() + value_of(step).size();
  std::string subject;
  subject.reserve(length);
  for (const EnvoyStep& step : way) append_subject(subject, step.entry->name, value_of(step));
  return {.rule = &rule,
          .limit = 0,
          .descriptor = descriptor,
          .check = {.name = {.subject = std::move(subject), .limit = way.back().node->limit_name()},
                    .quota = rule.limits.front().quota,
                    .cost = cost_of(request, asked),
                    .terms = rule.terms},
          .gives_back = asked.gives_back,
          .metric = has_metric_of_its_own(way) ? metric_of(domain_, way) : std::string{}};
}

Applied EnvoyMatcher::applied_by_request(const Request& request, std::size_t descriptor) const {
  const Descriptor& asked = request.descriptors[descriptor];
  std::string subject;
  for (const Attribute& entry : asked.entries) append_subject(subject, entry.name, entry.value);
  return {.rule = nullptr,
          .limit = 0,
          .descriptor = descriptor,
          .check = {.name = {.subject = std::move(subject),
                             .limit = travelling_limit_name(domain_, *asked.limit)},
                    .quota = *asked.limit,
                    .cost = cost_of(request, asked)},
          .gives_back = asked.gives_back,
          .metric = metric_of(domain_, asked.entries)};
}

void EnvoyMatcher::explain(const Request& request, Explanation& explanation) const {
  const Ways ways = ways_of(request);
  apply(request, ways, explanation.match);
  for (const EnvoyPath& path : paths_) {
    RuleReport report = report_on(path, root_, request, explanation.match);
    if (explanation.rules.size() >= kMaxReports && !report.matched) {
      explanation.cut_short = true;
      continue;
    }
    explanation.rules.push_back(std::move(report));
  }
}

}  // namespace penstock::rules
