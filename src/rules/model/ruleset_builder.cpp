#include "rules/model/ruleset_builder.hpp"

#include "base/check.hpp"
#include "rules/model/ruleset_impl.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {

RulesetBuilder::RulesetBuilder() : impl_(std::make_unique<Ruleset::Impl>()) {}
RulesetBuilder::~RulesetBuilder() = default;

const Source* RulesetBuilder::claim_domain(const std::string& domain, Source source) {
  const auto [place, is_new] = impl_->domains.try_emplace(domain);
  if (!is_new) return &place->second.source;
  place->second.source = std::move(source);
  return nullptr;
}

const Rule& RulesetBuilder::add_rule(Rule rule) {
  const auto domain = impl_->domains.find(rule.domain);
  PENSTOCK_CHECK(domain != impl_->domains.end());
  rule.index = impl_->rules.size();
  if (rule.metric.empty()) rule.metric = rule.domain + "/" + rule.name;
  impl_->rules.push_back(std::make_unique<const Rule>(std::move(rule)));
  const Rule& kept = *impl_->rules.back();
  PENSTOCK_CHECK(domain->second.rules.emplace(kept.name, &kept).second);
  return kept;
}

void RulesetBuilder::add_domain(const std::string& domain,
                                std::unique_ptr<const DomainMatcher> matcher) {
  const auto place = impl_->domains.find(domain);
  PENSTOCK_CHECK(place != impl_->domains.end() && place->second.matcher == nullptr);
  place->second.matcher = std::move(matcher);
}

void RulesetBuilder::set_unknown_domain(UnknownDomain what) { impl_->unknown_domain = what; }

UnknownDomain RulesetBuilder::unknown_domain() const noexcept { return impl_->unknown_domain; }

bool RulesetBuilder::has_domain(std::string_view domain) const {
  return impl_->domains.find(domain) != impl_->domains.end();
}

std::vector<std::string> RulesetBuilder::domains() const {
  std::vector<std::string> names;
  for (const auto& [name, part] : impl_->domains) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

const std::vector<std::unique_ptr<const Rule>>& RulesetBuilder::rules() const noexcept {
  return impl_->rules;
}

std::shared_ptr<const Ruleset> RulesetBuilder::build() {
  auto ruleset = std::make_shared<Ruleset>();
  ruleset->impl_ = std::exchange(impl_, std::make_unique<Ruleset::Impl>());
  return ruleset;
}

}  // namespace penstock::rules
