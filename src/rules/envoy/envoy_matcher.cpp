#include "rules/envoy/envoy_matcher.hpp"

#include "base/emplace_with.hpp"
#include "rules/model/limit_keys.hpp"

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
template <class MatchPaths>
Names replaced_by(const MatchPaths& match_paths) {
  Names names;
  for (const auto& match_path : match_paths) {
    if (match_path.empty()) continue;
    const std::vector<std::string>& replaces = match_path.back().node->replaces();
    if (replaces.empty()) continue;
    names.insert(replaces.begin(), replaces.end());
  }
  return names;
}

DescriptorOutcome outcome_of(const Rule& rule, const Names& replaced) {
  if (rule.action == Action::Unlimited) return DescriptorOutcome::Unlimited;
  if (!rule.given_name.empty() && replaced.contains(rule.given_name))
    return DescriptorOutcome::Replaced;
  return DescriptorOutcome::Limited;
}

}  // namespace

EnvoyMatcher::EnvoyMatcher(std::string domain, EnvoyNode root, std::vector<EnvoyPath> paths)
    : domain_(std::move(domain)), root_(std::move(root)), paths_(std::move(paths)) {}

EnvoyMatcher::MatchPaths EnvoyMatcher::match_paths_of(const Request& request) const {
  MatchPaths match_paths;
  match_paths.reserve(request.descriptors.size());
  std::string scratch;
  for (const Descriptor& descriptor : request.descriptors) {
    EnvoyMatchPath& match_path = match_paths.emplace_back();
    if (descriptor.limit.has_value()) continue;
    match_path = walk(root_, descriptor.entries, scratch);
    if (!match_path.empty() && match_path.back().node->rule() == nullptr) match_path.clear();
  }
  return match_paths;
}

void EnvoyMatcher::match(const Request& request, Match& match) const {
  apply(request, match_paths_of(request), match);
}

void EnvoyMatcher::apply(const Request& request, const MatchPaths& match_paths,
                         Match& match) const {
  const Names replaced = replaced_by(match_paths);
  match.limits.reserve(match_paths.size());
  for (std::size_t i = 0; i < match_paths.size(); ++i) {
    const Descriptor& descriptor = request.descriptors[i];
    if (descriptor.limit.has_value()) {
      match.descriptors[i] = DescriptorOutcome::Limited;
      match.limits.emplace_back(base::EmplaceWith([&] { return limit_by_request(request, i); }));
      continue;
    }
    if (match_paths[i].empty()) continue;
    const Rule& rule = *match_paths[i].back().node->rule();
    match.descriptors[i] = outcome_of(rule, replaced);
    if (match.descriptors[i] != DescriptorOutcome::Limited) continue;
    match.limits.emplace_back(
        base::EmplaceWith([&] { return limit_by_rule(request, i, match_paths[i]); }));
  }
}

MatchedLimit EnvoyMatcher::limit_by_rule(const Request& request, std::size_t descriptor,
                                         const EnvoyMatchPath& match_path) const {
  const Rule& rule = *match_path.back().node->rule();
  const Descriptor& asked = request.descriptors[descriptor];
  const auto value_of = [](const EnvoyStep& step) {
    return step.shared ? shared_value(step) : step.entry->value;
  };
  std::size_t length = 2 * match_path.size() - 1;
  for (const EnvoyStep& step : match_path)
    length += step.entry->name.size() + value_of(step).size();
  std::string subject;
  subject.reserve(length);
  for (const EnvoyStep& step : match_path)
    append_subject(subject, step.entry->name, value_of(step));
  return {
      .rule = &rule,
      .limit = 0,
      .descriptor = descriptor,
      .check = {.name = {.subject = std::move(subject),
                         .limit = match_path.back().node->limit_name()},
                .quota = rule.limits.front().quota,
                .cost = cost_of(request, asked),
                .terms = rule.terms},
      .is_refund = asked.is_refund,
      .metric = has_dynamic_metric(match_path) ? metric_of(domain_, match_path) : std::string{}};
}

MatchedLimit EnvoyMatcher::limit_by_request(const Request& request, std::size_t descriptor) const {
  const Descriptor& asked = request.descriptors[descriptor];
  std::string subject;
  for (const Attribute& entry : asked.entries) append_subject(subject, entry.name, entry.value);
  return {.rule = nullptr,
          .limit = 0,
          .descriptor = descriptor,
          .check = {.name = {.subject = std::move(subject),
                             .limit = request_limit_name(domain_, *asked.limit)},
                    .quota = *asked.limit,
                    .cost = cost_of(request, asked)},
          .is_refund = asked.is_refund,
          .metric = metric_of(domain_, asked.entries)};
}

void EnvoyMatcher::explain(const Request& request, Explanation& explanation) const {
  const MatchPaths match_paths = match_paths_of(request);
  apply(request, match_paths, explanation.match);
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
