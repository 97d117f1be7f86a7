#pragma once

// For tests: a tree of descriptors as somebody writes it down, and what envoyproxy/ratelimit says
// about it, word for word and without any index: a list is searched from its beginning.

#include "rules/envoy/envoy_tree.hpp"
#include "rules/model/count_names.hpp"
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
  std::vector<Step> way;
  const std::vector<Written>* level = &top;
  for (const Attribute& entry : entries) {
    if (!way.empty() && way.back().written->children.empty()) return {};
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
    way.push_back({.written = &*found, .shared = shared});
    level = &found->children;
  }
  return way;
}

// One descriptor, as far as the answer depends on the configuration.
struct Answer {
  Said said = Said::NoRule;
  std::string subject{};
  std::uint32_t limit = 0;
  std::string metric{};
};

inline std::string subject_of(const std::vector<Step>& way, const std::vector<Attribute>& entries) {
  std::string subject;
  for (std::size_t i = 0; i < way.size(); ++i) {
    std::string value(entries[i].value);
    if (way[i].shared) {
      value = name_of(*way[i].written);
      const std::string key = std::string(entries[i].name) + "_";
      if (value.starts_with(key)) value.erase(0, key.size());
    }
    append_subject(subject, entries[i].name, value);
  }
  return subject;
}

inline std::string metric_of(const std::vector<Step>& way, const std::vector<Attribute>& entries) {
  std::string metric = "dom";
  for (std::size_t i = 0; i < way.size(); ++i) {
    const std::string key(entries[i].name);
    const std::string value(entries[i].value);
    std::string part = name_of(*way[i].written);
    if (way[i].written->traits.value_to_metric) part = value.empty() ? key : key + "_" + value;
    if (way.back().written->traits.detailed_metric) part = key + "_" + value;
    if (way[i].shared) part = name_of(*way[i].written);
    metric += "." + part;
  }
  return metric;
}

inline std::vector<Answer> answers(const std::vector<Written>& top, const Request& request) {
  std::vector<std::vector<Step>> ways;
  std::set<std::string> replaced;
  for (const Descriptor& descriptor : request.descriptors) {
    ways.push_back(walk(top, descriptor.entries));
    if (!ways.back().empty() && !ways.back().back().written->action) ways.back().clear();
    if (ways.back().empty()) continue;
    const std::vector<std::string>& replaces = ways.back().back().written->replaces;
    replaced.insert(replaces.begin(), replaces.end());
  }
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Answer& answer = answers.emplace_back();
    if (ways[i].empty()) continue;
    const Written& last = *ways[i].back().written;
    if (last.action == Action::Unlimited) {
      answer.said = Said::Unlimited;
    } else if (!last.given_name.empty() && replaced.contains(last.given_name)) {
      answer.said = Said::Replaced;
    } else {
      const std::vector<Attribute>& entries = request.descriptors[i].entries;
      answer = {.said = Said::Limited,
                .subject = subject_of(ways[i], entries),
                .limit = last.requests_per_minute,
                .metric = metric_of(ways[i], entries)};
    }
  }
  return answers;
}

}  // namespace penstock::rules::naive
