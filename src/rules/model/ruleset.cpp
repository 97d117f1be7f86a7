#include "rules/model/ruleset.hpp"

#include "base/check.hpp"
#include "base/text_hash.hpp"
#include "core/decide_all.hpp"
#include "rules/model/limit_keys.hpp"
#include "rules/model/ruleset_builder.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace penstock::rules {
namespace {

// Each key is checked once per quota; under several quotas all must hold. Few limits apply to a
// request, so a linear scan is faster than a table.
void merge_equal_checks(std::vector<MatchedLimit>& limits) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto end = limits.begin() + static_cast<std::ptrdiff_t>(kept);
    const auto same = std::find_if(limits.begin(), end, [&](const MatchedLimit& other) {
      return other.is_refund == limits[i].is_refund && other.check.quota == limits[i].check.quota &&
             other.check.name == limits[i].check.name;
    });
    if (same != end) {
      same->check.cost = core::plus(same->check.cost, limits[i].check.cost);
    } else {
      if (kept != i) limits[kept] = std::move(limits[i]);
      ++kept;
    }
  }
  limits.erase(limits.begin() + static_cast<std::ptrdiff_t>(kept), limits.end());
}

}  // namespace

// A domain of a Ruleset.
struct DomainEntry {
  Source source{};
  std::unique_ptr<const DomainMatcher> matcher{};
  base::TextMap<const Rule*> rules{};  // by name
};

struct Ruleset::Impl {
  std::vector<std::unique_ptr<const Rule>> rules;
  base::TextMap<DomainEntry> domains;
  UnknownDomain unknown_domain = UnknownDomain::Allow;

  // The matcher of the request's domain; null when the domain is unknown, which answers the
  // request.
  const DomainMatcher* begin(const Request& request, Match& match) const {
    const auto domain = domains.find(request.domain);
    match.domain_known = domain != domains.end();
    match.unknown_domain_denied = !match.domain_known && unknown_domain == UnknownDomain::Deny;
    match.descriptors.assign(request.descriptors.size(), match.unknown_domain_denied
                                                             ? DescriptorOutcome::Denied
                                                             : DescriptorOutcome::NoRule);
    return match.domain_known ? domain->second.matcher.get() : nullptr;
  }
};

MatchedLimit limit_sent_with(const Request& request, std::size_t descriptor) {
  const Descriptor& asked = request.descriptors[descriptor];
  std::string subject;
  for (const Attribute& entry : asked.entries) append_subject(subject, entry.name, entry.value);
  return {.rule = nullptr,
          .descriptor = descriptor,
          .check = {.name = {.subject = std::move(subject),
                             .limit = request_limit_name(request.domain, *asked.limit)},
                    .quota = *asked.limit,
                    .cost = request.cost_of(asked)},
          .is_refund = asked.is_refund};
}

Ruleset::Ruleset() : impl_(std::make_unique<Impl>()) {}
Ruleset::~Ruleset() = default;

Match Ruleset::match(const Request& request) const {
  Match match;
  const DomainMatcher* const matcher = impl_->begin(request, match);
  if (matcher == nullptr) return match;
  matcher->match(request, match);
  merge_equal_checks(match.limits);
  return match;
}

Explanation Ruleset::explain(const Request& request) const {
  Explanation explanation;
  const DomainMatcher* const matcher = impl_->begin(request, explanation.match);
  if (matcher == nullptr) return explanation;
  matcher->explain(request, explanation);
  merge_equal_checks(explanation.match.limits);
  return explanation;
}

const std::vector<std::unique_ptr<const Rule>>& Ruleset::rules() const noexcept {
  return impl_->rules;
}

const Rule* Ruleset::find(std::string_view domain, std::string_view rule) const {
  const auto place = impl_->domains.find(domain);
  if (place == impl_->domains.end()) return nullptr;
  const auto found = place->second.rules.find(rule);
  return found == place->second.rules.end() ? nullptr : found->second;
}

bool Ruleset::has_domain(std::string_view domain) const {
  return impl_->domains.find(domain) != impl_->domains.end();
}

std::optional<std::vector<std::string>> Ruleset::attributes_of(const Rule& rule) const {
  const auto domain = impl_->domains.find(rule.domain);
  if (domain == impl_->domains.end()) return std::nullopt;
  return domain->second.matcher->attributes_of(rule);
}

core::LimitKey Ruleset::limit_key(const Rule& rule, std::size_t limit, std::string_view subject) {
  const bool has_limit = limit < rule.limits.size();
  core::LimitKey name{
      .subject = {},
      .limit = limit_name(rule.domain, rule.name, has_limit ? rule.limits[limit].name : "")};
  const std::optional<SubjectParts> parts = parse_subject(subject);
  if (!parts) {
    name.subject = subject;
    return name;
  }
  std::vector<bool> used(parts->size());
  for (const KeyPart& key : rule.key) {
    for (std::size_t i = 0; i < parts->size(); ++i) {
      if (used[i] || (*parts)[i].first != key.name) continue;
      append_subject(name.subject, key.name, key_value(key, (*parts)[i].second));
      used[i] = true;
      break;
    }
  }
  for (std::size_t i = 0; i < parts->size(); ++i) {
    if (!used[i]) append_subject(name.subject, (*parts)[i].first, (*parts)[i].second);
  }
  return name;
}

std::vector<Quota> Ruleset::quotas_for(const Rule& rule, std::string_view subject) const {
  const auto domain = impl_->domains.find(rule.domain);
  const std::optional<SubjectParts> parts = parse_subject(subject);
  const std::optional<Quota>* replaced = nullptr;
  if (domain != impl_->domains.end() && parts) {
    Descriptor known;
    for (const auto& [name, value] : *parts) {
      known.entries.push_back({.name = name, .value = value});
    }
    replaced = domain->second.matcher->find_override(rule, known);
  }
  std::vector<Quota> quotas;
  if (replaced != nullptr && !*replaced) return quotas;
  for (const RuleLimit& limit : rule.limits) {
    quotas.push_back(replaced != nullptr ? **replaced : limit.quota);
  }
  return quotas;
}

bool Ruleset::is_subject_of(const Rule& rule, std::string_view subject) {
  const std::optional<SubjectParts> parts = parse_subject(subject);
  if (!parts) return false;
  std::vector<std::string_view> given;
  for (const auto& [name, value] : *parts) given.emplace_back(name);
  std::vector<std::string_view> counted;
  for (const KeyPart& part : rule.key) counted.emplace_back(part.name);
  std::sort(given.begin(), given.end());
  std::sort(counted.begin(), counted.end());
  return given == counted;
}

std::vector<const Rule*> Ruleset::rules_keyed_by(std::string_view domain,
                                                 std::string_view subject) const {
  std::vector<const Rule*> found;
  for (const auto& rule : impl_->rules) {
    if (rule->domain != domain || rule->action != Action::Limit) continue;
    if (is_subject_of(*rule, subject)) found.push_back(rule.get());
  }
  return found;
}

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
