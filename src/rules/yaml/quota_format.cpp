#include "rules/yaml/quota_format.hpp"

#include "rules/yaml/rule_keys.hpp"

#include <algorithm>

namespace penstock::rules {
namespace {

constexpr std::string_view kDefaultAlgorithm = "token_bucket";

// Whether the text names an algorithm. The parsed quota cannot show it for the default algorithm.
bool names_algorithm(const QuotaSpec& spec, std::string_view text) {
  return spec.algorithm != Algorithm::TokenBucket ||
         text.find(kDefaultAlgorithm) != std::string_view::npos;
}

Result<Quota> parse_quota(std::string_view text, const QuotaDefaults& defaults) {
  Result<QuotaSpec> spec = QuotaSpec::parse(text);
  if (!spec) return spec.error();
  if (!names_algorithm(*spec, text)) spec->algorithm = defaults.algorithm;
  if (!spec->capacity) spec->capacity = defaults.burst;
  return Quota::make(*spec);
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
  if (const auto node = fields.find("burst")) {
    if (const auto burst = node->integer(1, 1'000'000'000)) defaults.burst = *burst;
  }
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

}  // namespace penstock::rules
