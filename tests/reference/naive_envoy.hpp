#pragma once

// A descriptor tree and the answers of envoyproxy/ratelimit to it, by linear search without an
// index.

#include "rules/envoy/envoy_tree.hpp"
#include "rules/model/limit_keys.hpp"
#include "rules/model/ruleset.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace penstock::rules::naive {

struct Written {
  EnvoyNode::Traits traits;
  std::optional<Action> action{};
  std::uint32_t requests_per_minute = 0;
  bool shadow = false;
  bool quota_mode = false;
  std::string given_name{};
  std::vector<std::string> replaces{};
  std::vector<Written> children{};
};

inline std::string name_of(const Written& written) { return EnvoyNode::name_of(written.traits); }

inline bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*') {
    return !text.empty() && text.front() == pattern.front() &&
           matches(pattern.substr(1), text.substr(1));
  }
  for (std::size_t run = 0; run <= text.size(); ++run) {
    if (matches(pattern.substr(1), text.substr(run))) return true;
  }
  return false;
}

struct Step {
  const Written* written = nullptr;
  bool shared = false;
};

// Empty when nothing was found.
inline std::vector<Step> walk(const std::vector<Written>& top,
                              const std::vector<Attribute>& entries) {
  std::vector<Step> path;
  const std::vector<Written>* level = &top;
  for (const Attribute& entry : entries) {
    if (!path.empty() && path.back().written->children.empty()) return {};
    const std::string wanted = std::string(entry.name) + "_" + std::string(entry.value);
    const auto named = [&](std::string_view name) {
      return std::ranges::find_if(*level, [&](const Written& w) { return name_of(w) == name; });
    };
    auto found = named(wanted);
    bool shared = false;
    if (found == level->end()) {
      found = std::ranges::find_if(*level, [&](const Written& w) {
        return name_of(w).find('*') != std::string::npos && matches(name_of(w), wanted);
      });
      shared = found != level->end() && found->traits.share_threshold;
    }
    if (found == level->end()) found = named(entry.name);
    if (found == level->end()) return {};
    path.push_back({.written = &*found, .shared = shared});
    level = &found->children;
  }
  return path;
}

// One descriptor, as far as the answer depends on the configuration.
struct Answer {
  DescriptorOutcome said = DescriptorOutcome::NoRule;
  std::string subject{};
  std::uint32_t limit = 0;
  std::string metric{};
};

inline std::string subject_of(const std::vector<Step>& path,
                              const std::vector<Attribute>& entries) {
  std::string subject;
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::string value(entries[i].value);
    if (path[i].shared) {
      value = name_of(*path[i].written);
      const std::string key = std::string(entries[i].name) + "_";
      if (value.starts_with(key)) value.erase(0, key.size());
    }
    append_subject(subject, entries[i].name, value);
  }
  return subject;
}

inline std::string metric_of(const std::vector<Step>& path, const std::vector<Attribute>& entries) {
  std::string metric = "dom";
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::string key(entries[i].name);
    const std::string value(entries[i].value);
    std::string part = name_of(*path[i].written);
    if (path[i].written->traits.value_to_metric) part = value.empty() ? key : key + "_" + value;
    if (path.back().written->traits.detailed_metric) part = key + "_" + value;
    if (path[i].shared) part = name_of(*path[i].written);
    metric += "." + part;
  }
  return metric;
}

inline std::vector<Answer> answers(const std::vector<Written>& top, const Request& request) {
  std::vector<std::vector<Step>> paths;
  std::set<std::string> replaced;
  for (const Descriptor& descriptor : request.descriptors) {
    paths.push_back(walk(top, descriptor.entries));
    if (!paths.back().empty() && !paths.back().back().written->action) paths.back().clear();
    if (paths.back().empty()) continue;
    const std::vector<std::string>& replaces = paths.back().back().written->replaces;
    replaced.insert(replaces.begin(), replaces.end());
  }
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Answer& answer = answers.emplace_back();
    if (paths[i].empty()) continue;
    const Written& last = *paths[i].back().written;
    if (last.action == Action::Unlimited) {
      answer.said = DescriptorOutcome::Unlimited;
    } else if (!last.given_name.empty() && replaced.contains(last.given_name)) {
      answer.said = DescriptorOutcome::Replaced;
    } else {
      const std::vector<Attribute>& entries = request.descriptors[i].entries;
      answer = {.said = DescriptorOutcome::Limited,
                .subject = subject_of(paths[i], entries),
                .limit = last.requests_per_minute,
                .metric = metric_of(paths[i], entries)};
    }
  }
  return answers;
}

}  // namespace penstock::rules::naive
