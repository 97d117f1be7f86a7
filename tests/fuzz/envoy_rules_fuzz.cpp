// libFuzzer: an arbitrary envoyproxy/ratelimit file is loaded or rejected with a reason; after
// loading, it answers requests and explains the answers.

#include "rules/envoy/envoy_format.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace penstock::rules;

// A request with the rule's own words as entries.
void ask_about(const Ruleset& rules, const Rule& rule) {
  Request request{.domain = rule.domain, .descriptors = {}};
  Descriptor& descriptor = request.descriptors.emplace_back();
  for (const KeyPart& part : rule.key) {
    descriptor.entries.push_back({.name = part.name, .value = rule.name});
  }
  request.descriptors.push_back({.entries = {{.name = rule.name, .value = ""}}});
  const Match match = rules.match(request);
  const Explanation explanation = rules.explain(request);
  if (!match.domain_known || match.descriptors.size() != 2) std::abort();
  if (match.descriptors != explanation.match.descriptors) std::abort();
  for (const MatchedLimit& matched : match.limits) {
    if (rules.find(rule.domain, matched.rule->name) != matched.rule) std::abort();
  }
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  Diagnostics diagnostics;
  RulesetBuilder builder;
  const auto document = YamlDocument::parse(text, "fuzz.yaml", diagnostics);
  if (document == nullptr) {
    if (!has_error(diagnostics)) std::abort();
    return 0;
  }
  const YamlNode root(*document);
  load_envoy(root, builder);
  if (has_error(diagnostics)) return 0;
  const auto rules = builder.build();
  for (const auto& rule : rules->rules()) ask_about(*rules, *rule);
  return 0;
}
