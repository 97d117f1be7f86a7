#include "rules/yaml/limit_format.hpp"

#include "core/lease.hpp"
#include "rules/yaml/rule_keys.hpp"

#include <algorithm>
#include <string>

namespace penstock::rules {
namespace {

using core::Mode;

// A shorter lease expires before it is used; a longer one withholds units from other nodes.
constexpr Duration kMinLifetime = std::chrono::milliseconds{10};
constexpr Duration kMaxLifetime = std::chrono::seconds{10};

constexpr bool takes_leases(Mode mode) {
  return mode == Mode::Lease || mode == Mode::LeaseStrict || mode == Mode::Adaptive;
}

bool supports_terms(const Quota& quota, const core::SharingTerms& terms) {
  return !takes_leases(terms.mode) || core::can_lease(quota.algorithm());
}

// "token_bucket, gcra or fixed_window"
std::string leasable_algorithms() {
  std::string list;
  std::string_view last;
  for (const Algorithm algorithm : core::kAlgorithms) {
    if (!core::can_lease(algorithm)) continue;
    if (!last.empty()) list += (list.empty() ? "" : ", ") + std::string(last);
    last = to_string(algorithm);
  }
  return list + " or " + std::string(last);
}

std::string unsupported_reason(const Quota& quota, Mode mode) {
  return std::string(to_string(quota.algorithm())) +
         " counts each unit when it is spent, and those of a lease are spent later; use " +
         "mode: exact, or an algorithm that " + std::string(to_string(mode)) +
         " can keep: " + leasable_algorithms();
}

// "lease_lifetime: "1s" has no effect in rule "x" with mode exact; it needs mode: lease"
void report_useless(const YamlNode& node, std::string_view rule, Mode mode,
                    std::string_view needed) {
  node.error(std::string(node.label()) + ": " + quote_value(node.raw()) +
             " has no effect in rule " + quote_value(rule) + " with mode " +
             std::string(to_string(mode)) + "; it needs mode: " + std::string(needed));
}

}  // namespace

void read_quota_defaults(const YamlFields& fields, QuotaDefaults& defaults) {
  if (const auto node = fields.find("algorithm")) {
    if (const auto text = node->text()) {
      const Result<Algorithm> algorithm = parse_algorithm(*text);
      if (algorithm) {
        defaults.algorithm = *algorithm;
      } else {
        node->error("algorithm: " + algorithm.error().detail);
      }
    }
  }
  fields.read_number("burst", 1, 1'000'000'000, defaults.burst);
}

std::optional<Quota> read_quota(const YamlNode& limit, const QuotaDefaults& defaults) {
  const auto text = limit.text();
  if (!text) return std::nullopt;
  Result<Quota> quota = parse_quota(*text, defaults);
  if (quota) return *quota;
  limit.error(std::string(limit.label()) + ": " + quota.error().detail);
  return std::nullopt;
}

std::vector<RuleLimit> read_limits(const YamlNode& limits, const QuotaDefaults& defaults) {
  std::vector<RuleLimit> all;
  const std::vector<YamlEntry> entries = limits.entries();
  if (limits.is_map() && entries.empty()) limits.error("limits: none at all");
  for (const YamlEntry& entry : entries) {
    QuotaDefaults own = defaults;
    std::optional<YamlNode> limit = entry.value;
    if (entry.value.is_map()) {
      const YamlFields fields(entry.value, keys::kLimit);
      read_quota_defaults(fields, own);
      limit = fields.require("limit");
    }
    if (!limit) continue;
    const auto quota = read_quota(*limit, own);
    if (quota) all.push_back({.name = std::string(entry.key.raw()), .quota = *quota});
  }
  return all;
}

std::shared_ptr<const QuotaMap> OverrideMaps::of(const std::shared_ptr<const ValueMap>& map,
                                                 Algorithm algorithm, const YamlNode& place) {
  std::shared_ptr<const QuotaMap>& known = known_[{map, algorithm}];
  if (known != nullptr) return known;
  QuotaMap quotas;
  quotas.reserve(map->size());
  for (const auto& [key, text] : *map) {
    if (text == "unlimited") {
      quotas.emplace(key, std::nullopt);
      continue;
    }
    const Result<Quota> quota = parse_quota(text, {.algorithm = algorithm});
    if (quota) {
      quotas.emplace(key, *quota);
    } else {
      place.error("overrides: value of " + quote_value(key, '\'') + ": " + quota.error().detail);
    }
  }
  known = std::make_shared<const QuotaMap>(std::move(quotas));
  return known;
}

void read_on_failure(const YamlFields& fields, OnFailure& on_failure) {
  const auto node = fields.find("on_failure");
  if (!node) return;
  const auto chosen = node->choice<OnFailure>(
      {{"open", OnFailure::Open}, {"closed", OnFailure::Closed}, {"local", OnFailure::Local}});
  if (chosen) on_failure = *chosen;
}

void read_terms(const YamlFields& fields, core::SharingTerms& terms) {
  if (const auto node = fields.find("mode")) {
    const auto mode = node->choice<Mode>({{"exact", Mode::Exact},
                                          {"lease", Mode::Lease},
                                          {"lease_strict", Mode::LeaseStrict},
                                          {"adaptive", Mode::Adaptive},
                                          {"local", Mode::Local}});
    if (mode) terms.mode = *mode;
  }
  if (const auto node = fields.find("lease_lifetime")) {
    const auto lifetime = node->duration(kMinLifetime, kMaxLifetime);
    if (lifetime) terms.lifetime = *lifetime;
  }
  if (const auto node = fields.find("share")) {
    const auto divided = node->choice<bool>({{"none", false}, {"nodes", true}});
    if (divided) terms.divided = *divided;
  }
}

core::SharingTerms checked_terms(const YamlFields& rule, std::string_view name,
                                 const core::SharingTerms& terms,
                                 std::span<const RuleLimit> limits) {
  const auto mode = rule.find("mode");
  // an invalid word is reported once
  if (mode && mode->raw() != to_string(terms.mode)) return terms;
  for (const RuleLimit& limit : limits) {
    if (supports_terms(limit.quota, terms)) continue;
    mode.value_or(rule.map())
        .error("mode: " + std::string(to_string(terms.mode)) +
               (mode ? "" : ", which the domain says,") + " cannot hold for rule " +
               quote_value(name) + " with limit " + quote_value(to_string(limit.quota)) + ": " +
               unsupported_reason(limit.quota, terms.mode));
  }
  core::SharingTerms kept{.mode = terms.mode};
  if (takes_leases(terms.mode)) {
    kept.lifetime = terms.lifetime;
  } else if (const auto lifetime = rule.find("lease_lifetime")) {
    report_useless(*lifetime, name, terms.mode, "lease, lease_strict or adaptive");
  }
  if (terms.mode == Mode::Local) {
    kept.divided = terms.divided;
  } else if (const auto share = rule.find("share"); share && terms.divided) {
    report_useless(*share, name, terms.mode, "local");
  }
  return kept;
}

void check_overrides(const QuotaMap& overrides, const YamlNode& section,
                     const core::SharingTerms& terms) {
  const QuotaMap::value_type* first = nullptr;  // in alphabetical order, to be deterministic
  for (const QuotaMap::value_type& each : overrides) {
    if (!each.second || supports_terms(*each.second, terms)) continue;
    if (first == nullptr || each.first < first->first) first = &each;
  }
  if (first == nullptr) return;
  section.error("overrides: value of " + quote_value(first->first, '\'') +
                ": mode: " + std::string(to_string(terms.mode)) + " cannot hold for " +
                quote_value(to_string(*first->second)) + ": " +
                unsupported_reason(*first->second, terms.mode));
}

}  // namespace penstock::rules
