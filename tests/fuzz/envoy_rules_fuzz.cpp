// libFuzzer: a file of envoyproxy/ratelimit that may be anything. Whatever it is, it is read or
// refused with a reason; what was read answers requests, and explains what it answers.

#include "rules/envoy/envoy_format.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace penstock::rules;

// A request that has the words of the rule itself as its entries.
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

// libFuzzer's name for it.
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
