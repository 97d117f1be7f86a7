#include "rules/envoy/envoy_matcher.hpp"

#include "base/emplace_with.hpp"
#include "rules/model/limit_keys.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <unordered_set>
#include <utility>

namespace penstock::rules {
namespace {

std::string entry_text(const Attribute& entry) {
  return quote_value(std::string(entry.name) + "=" + std::string(entry.value));
}

std::string found_by_text(EnvoyNode::By by) {
  switch (by) {
    case EnvoyNode::By::ValueOrName: return "by its value";
    case EnvoyNode::By::Wildcard: return "by wildcard";
    case EnvoyNode::By::Key: return "by its key";
    case EnvoyNode::By::Nothing: break;
  }
  return {};
}

std::string entries_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " entry" : " entries");
}

// How far a descriptor comes on the path, and what stops it there.
struct DescriptorProgress {
  std::size_t levels = 0;
  bool arrived = false;
  std::string reason{};
};

DescriptorProgress progress_of(const EnvoyPath& path, const EnvoyNode& root,
                               const Descriptor& descriptor) {
  if (descriptor.limit.has_value()) return {.reason = "it brings a limit of its own"};
  const EnvoyNode* here = &root;
  std::string scratch;
  EnvoyNode::Found found;
  for (std::size_t level = 0; level < path.nodes.size(); ++level) {
    if (level == descriptor.entries.size()) {
      return {.levels = level,
              .reason = "it has " + entries_text(level) + ", the rule needs " +
                        std::to_string(path.nodes.size())};
    }
    const Attribute& entry = descriptor.entries[level];
    const EnvoyNode* const wanted = path.nodes[level];
    found = here->child_for(entry, scratch);
    if (found.node != wanted) {
      return {.levels = level,
              .reason = entry_text(entry) + (found.node == nullptr
                                                 ? " is not " + wanted->name()
                                                 : " is taken by " + found.node->name())};
    }
    here = wanted;
  }
  if (descriptor.entries.size() > path.nodes.size()) {
    return {.levels = path.nodes.size(),
            .reason = "it has " + entries_text(descriptor.entries.size()) + ", the rule is for " +
                      std::to_string(path.nodes.size())};
  }
  return {.levels = path.nodes.size(),
          .arrived = true,
          .reason = entry_text(descriptor.entries.back()) + " found " + found_by_text(found.by)};
}

using Names = std::unordered_set<std::string_view>;

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
  if (!rule.given_name.empty() && replaced.contains(rule.given_name)) {
    return DescriptorOutcome::Replaced;
  }
  return DescriptorOutcome::Limited;
}

}  // namespace

RuleReport report_on(const EnvoyPath& path, const EnvoyNode& root, const Request& request,
                     const Match& match) {
  RuleReport report{.rule = path.rule, .reason = "the request has no descriptor"};
  std::size_t closest = 0;
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) {
    DescriptorProgress here = progress_of(path, root, request.descriptors[i]);
    if (i > 0 && !here.arrived && here.levels <= closest) continue;
    closest = here.levels;
    report.matched = here.arrived;
    if (here.arrived && match.descriptors[i] == DescriptorOutcome::Replaced) {
      report.matched = false;
      here.reason = "another limit of this request replaces it";
    }
    report.reason = request.descriptors.size() == 1
                        ? std::move(here.reason)
                        : "descriptor " + std::to_string(i + 1) + ": " + here.reason;
    if (report.matched) break;
  }
  return report;
}

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
      match.limits.push_back(limit_sent_with(request, i));
      match.limits.back().metric = metric_of(domain_, descriptor.entries);
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
  for (const EnvoyStep& step : match_path) {
    length += step.entry->name.size() + value_of(step).size();
  }
  std::string subject;
  subject.reserve(length);
  for (const EnvoyStep& step : match_path) {
    append_subject(subject, step.entry->name, value_of(step));
  }
  return {
      .rule = &rule,
      .limit = 0,
      .descriptor = descriptor,
      .check = {.name = {.subject = std::move(subject),
                         .limit = match_path.back().node->limit_name()},
                .quota = rule.limits.front().quota,
                .cost = request.cost_of(asked),
                .terms = rule.terms},
      .is_refund = asked.is_refund,
      .metric = has_dynamic_metric(match_path) ? metric_of(domain_, match_path) : std::string{}};
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
