// libFuzzer: an arbitrary configuration loads or is rejected with a reason; after loading, the rule
// index finds the same rules as a linear search.

#include "rules/model/configuration.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using namespace penstock::rules;

void ask(const Ruleset& rules, const Rule& rule, std::string_view value) {
  Request request{.domain = rule.domain, .descriptors = {{}}};
  for (const std::string_view name : {"method", "path", "client_ip", "a", "b"}) {
    request.descriptors[0].entries.push_back({.name = name, .value = value});
  }
  for (const KeyPart& part : rule.key) {
    request.descriptors[0].entries.push_back({.name = part.name, .value = value});
  }
  const Match match = rules.match(request);
  const Explanation explanation = rules.explain(request);
  if (!match.domain_known || match.descriptors != explanation.match.descriptors) std::abort();
  if (match.limits.size() != explanation.match.limits.size()) std::abort();
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  // Referenced files do not exist.
  const Loaded loaded = load_text(text, "/nonexistent/fuzz.yaml");
  if (loaded.configuration.has_value() == has_error(loaded.diagnostics)) std::abort();
  if (!loaded.configuration) return 0;
  const Ruleset& rules = *loaded.configuration->rules;
  for (const auto& rule : rules.rules()) {
    for (const std::string_view value : {"GET", "/v1/a/b", "10.1.2.3", "2001:db8::1", ""}) {
      ask(rules, *rule, value);
    }
  }
  return 0;
}
