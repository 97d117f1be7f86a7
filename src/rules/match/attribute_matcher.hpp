#pragma once

#include "base/text_hash.hpp"
#include "penstock/check.hpp"
#include "rules/match/rule_index.hpp"
#include "rules/model/condition.hpp"
#include "rules/model/rule.hpp"
#include "rules/model/ruleset_builder.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// Where a value comes from: an attribute of the request, or a capture of a pattern of the rule.
struct ValueSource {
  enum class From : std::uint8_t { Attribute, Capture };
  From from = From::Attribute;
  std::size_t number = 0;
};

struct KeySource {
  KeyPart part;
  ValueSource value;
  std::string prefix;  // "api_key=", escaped
};

// Units charged per unit of the request's cost.
struct CostSource {
  std::uint64_t units = 1;  // when the attribute is missing or not a number
  std::optional<ValueSource> attribute{};
};

// Other quotas, by the value of an attribute. Empty: unlimited.
using QuotaMap = base::TextMap<std::optional<Quota>>;
struct Overrides {
  ValueSource by;
  std::shared_ptr<const QuotaMap> quotas;
};

// A compiled rule of our own format.
struct AttributeRule {
  const Rule* rule = nullptr;
  std::vector<Condition> conditions{};
  std::vector<KeySource> key{};
  CostSource cost{};
  std::optional<Overrides> overrides{};
  std::vector<std::string> limit_names{};  // one per limit of the rule
};

// An attribute that is looked up by another one, in place of what the request says about it: what
// clients claim about themselves does not count.
struct DerivedAttribute {
  std::size_t slot = 0;
  std::size_t by = 0;  // slot of the attribute that is looked up
  std::shared_ptr<const base::TextMap<std::string>> map;
  std::optional<std::string> fallback{};

  // Its value in a request where the attribute `by` has this value, or none.
  [[nodiscard]] std::optional<std::string_view> value_for(
      const std::optional<std::string_view>& key) const {
    const auto found = key ? map->find(*key) : map->end();
    if (found != map->end()) return found->second;
    return fallback;
  }
};

struct AttributeDomain {
  std::string name;
  base::TextMap<std::size_t> slots{};  // number of each attribute that is mentioned
  std::vector<SlotUse> uses{};         // of each slot
  std::vector<DerivedAttribute> derived{};
  std::vector<AttributeRule> rules{};  // deny list, then allow list, then the rest
};

// A domain of our own format. An entry of the deny list denies the whole request; otherwise an
// entry of the allow list allows it; otherwise every rule that applies to one of its descriptors
// limits it.
class AttributeMatcher final : public DomainMatcher {
 public:
  explicit AttributeMatcher(AttributeDomain domain);

  void match(const Request& request, Match& match) const override;
  void explain(const Request& request, Explanation& explanation) const override;
  [[nodiscard]] const std::optional<Quota>* find_override(const Rule& rule,
                                                          const Descriptor& subject) const override;
  [[nodiscard]] std::optional<std::vector<std::string>> attributes_of(
      const Rule& rule) const override;

  // How many rules match() looks at in full; for tests.
  [[nodiscard]] std::size_t count_candidates(const Descriptor& descriptor) const;

 private:
  [[nodiscard]] SlotValues slot_values_of(const Descriptor& descriptor) const;
  void match_one(const Request& request, std::size_t number, Match& match) const;
  static DescriptorOutcome apply(const AttributeRule& rule, const Request& request,
                                 std::size_t number, const SlotValues& slot_values, Match& match);

  AttributeDomain domain_;
  RuleIndex index_;
};

}  // namespace penstock::rules
