#include "rules/envoy/envoy_explanation.hpp"

#include "rules/yaml/yaml_reader.hpp"

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

}  // namespace penstock::rules
