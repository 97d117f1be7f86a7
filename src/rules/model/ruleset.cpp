#include "rules/model/ruleset.hpp"

#include "core/decide_all.hpp"
#include "rules/model/limit_keys.hpp"
#include "rules/model/ruleset_impl.hpp"

#include <algorithm>
#include <utility>

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

void begin_match(Match& match, const Request& request, bool domain_known, UnknownDomain unknown) {
  match.domain_known = domain_known;
  match.unknown_domain_denied = !domain_known && unknown == UnknownDomain::Deny;
  match.descriptors.assign(request.descriptors.size(), match.unknown_domain_denied
                                                           ? DescriptorOutcome::Denied
                                                           : DescriptorOutcome::NoRule);
}

}  // namespace

Ruleset::Ruleset() : impl_(std::make_unique<Impl>()) {}
Ruleset::~Ruleset() = default;

Match Ruleset::match(const Request& request) const {
  Match match;
  const auto domain = impl_->domains.find(request.domain);
  begin_match(match, request, domain != impl_->domains.end(), impl_->unknown_domain);
  if (!match.domain_known) return match;
  domain->second.matcher->match(request, match);
  merge_equal_checks(match.limits);
  return match;
}

Explanation Ruleset::explain(const Request& request) const {
  Explanation explanation;
  Match& match = explanation.match;
  const auto domain = impl_->domains.find(request.domain);
  begin_match(match, request, domain != impl_->domains.end(), impl_->unknown_domain);
  if (!match.domain_known) return explanation;
  domain->second.matcher->explain(request, explanation);
  merge_equal_checks(match.limits);
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
    for (const auto& [name, value] : *parts)
      known.entries.push_back({.name = name, .value = value});
    replaced = domain->second.matcher->find_override(rule, known);
  }
  std::vector<Quota> quotas;
  if (replaced != nullptr && !*replaced) return quotas;
  for (const RuleLimit& limit : rule.limits) {
    quotas.push_back(replaced != nullptr ? **replaced : limit.quota);
  }
  return quotas;
}

std::vector<const Rule*> Ruleset::rules_keyed_by(std::string_view domain,
                                                 std::string_view subject) const {
  std::vector<const Rule*> found;
  const std::optional<SubjectParts> parts = parse_subject(subject);
  if (!parts) return found;
  std::vector<std::string_view> wanted;
  for (const auto& [name, value] : *parts) wanted.emplace_back(name);
  std::sort(wanted.begin(), wanted.end());
  for (const auto& rule : impl_->rules) {
    if (rule->domain != domain || rule->action != Action::Limit) continue;
    std::vector<std::string_view> names;
    for (const KeyPart& part : rule->key) names.emplace_back(part.name);
    std::sort(names.begin(), names.end());
    if (names == wanted) found.push_back(rule.get());
  }
  return found;
}

}  // namespace penstock::rules
