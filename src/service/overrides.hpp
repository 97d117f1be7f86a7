#pragma once

#include "base/text_hash.hpp"
#include "penstock/clock.hpp"
#include "penstock/decimal.hpp"
#include "penstock/result.hpp"
#include "rules/model/ruleset.hpp"
#include "service/answer.hpp"
#include "service/live_overrides.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace penstock::service {

// The override as it can be applied to these rules, its subject in canonical form. Otherwise the
// error, which names the value: an unknown rule or limit, a subject that is no key of the rule, an
// invalid quota or factor, a quota that the mode of the rule cannot keep, or a quota for a rule
// with several limits.
[[nodiscard]] Result<store::Override> checked_override(const rules::Ruleset& rules,
                                                       store::Override set);
// The same for an override to be removed, of which only rule and subject count. A rule that is not
// loaded is no error.
[[nodiscard]] store::Override named_override(const rules::Ruleset& rules, store::Override removed);

// Whether it changes this rule, or one limit of it.
[[nodiscard]] bool is_of_rule(const store::Override& set, const rules::Rule& rule);

// The overrides, prepared for the rules. Of several that match a limit the most specific counts: of
// a subject before of all, of one limit before of the rule. Those of unknown rules have no effect.
//
// Thread-safety: immutable.
class Overrides {
 public:
  Overrides() = default;
  Overrides(const LiveOverrides::List& list, const rules::Ruleset& rules);

  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }

  // Changes the quotas and modes of these limits. REQUIRES: they belong to the same rules.
  void apply(std::vector<LimitAnswer>& limits, const Clock& clock) const;
  // Whether an override puts the whole rule in shadow mode now.
  [[nodiscard]] bool is_in_shadow(const rules::Rule& rule, const Clock& clock) const;

 private:
  struct Entry {
    std::shared_ptr<const store::Override> from;
    std::optional<std::size_t> limit{};                            // empty: all of the rule
    std::optional<Quota> quota{};                                  // of Limit
    Decimal factor = Decimal::from_nanos(Decimal::kNanosPerUnit);  // of Multiply
  };
  using OfSubject = std::vector<Entry>;  // those of one limit first
  using OfRule = base::TextMap<OfSubject>;

  // Null when there is none.
  [[nodiscard]] static const Entry* find(const OfRule& rule, std::string_view subject,
                                         std::size_t limit, Instant now);
  static void apply(const Entry& entry, LimitAnswer& limit);

  std::unordered_map<std::size_t, OfRule> rules_;  // by index
};

}  // namespace penstock::service
