#include "rules/envoy/envoy_rate_limit.hpp"

#include "base/text.hpp"
#include "rules/envoy/envoy_fields.hpp"

#include <algorithm>
#include <array>

namespace penstock::rules {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr std::array kUnits{
    Unit{"second", std::chrono::seconds{1}},
    Unit{"minute", std::chrono::minutes{1}},
    Unit{"hour", std::chrono::hours{1}},
    Unit{"day", Days{1}},
    Unit{"week", Days{7}},
    Unit{"month", Days{30}},
    Unit{"year", Days{365}},
};

std::optional<Duration> unit_length(std::string_view text) {
  const std::string name = base::lower_case(text);
  const auto* const unit = std::ranges::find(kUnits, name, &Unit::name);
  if (unit == kUnits.end()) return std::nullopt;
  return unit->length;
}

// Reads one rate_limit. Whatever is wrong is noted, and the rest is read all the same.
class RateLimitReader {
 public:
  RateLimitReader(const YamlNode& node, const EnvoyDefaults& defaults, std::string_view rule)
      : node_(node), rule_(rule), fields_(node, EnvoyMap::RateLimit) {
    limit_.on_failure = defaults.on_failure;
    limit_.terms = defaults.terms;
  }

  std::optional<EnvoyRateLimit> read() {
    if (!node_.is_map()) return std::nullopt;
    limit_.name = fields_.text("name").value_or("");
    read_replaces();
    limit_.count_denied = fields_.flag("count_denied");
    read_on_failure(fields_, limit_.on_failure);
    if (fields_.flag("unlimited")) {
      read_unlimited();
    } else {
      read_quota();
    }
    read_where();
    if (!usable_) return std::nullopt;
    return std::move(limit_);
  }

 private:
  void reject(const YamlNode& where, const std::string& message) {
    where.error(message);
    usable_ = false;
  }

  YamlNode node_of(std::string_view key) const { return fields_.find(key).value_or(node_); }

  void read_replaces() {
    for (const YamlNode& element : fields_.maps("replaces")) {
      const std::string name = EnvoyFields(element, EnvoyMap::Replaces).text("name").value_or("");
      if (name.empty()) {
        reject(element, "should not have an empty replaces entry");
      } else if (name == limit_.name) {
        reject(element, "replaces should not contain name of same descriptor: '" + name + "'");
      } else {
        limit_.replaces.push_back(name);
      }
    }
  }

  void read_unlimited() {
    limit_.action = Action::Unlimited;
    const std::string unit = fields_.text("unit").value_or("");
    if (unit.empty()) return;
    if (unit_length(unit)) {
      reject(node_of("unit"), "should not specify rate limit unit when unlimited");
    } else {
      node_of("unit").warning("unit '" + unit + "' has no effect on what is unlimited");
    }
  }

  void read_quota() {
    const std::optional<Duration> period = read_unit();
    const std::optional<std::uint32_t> requests = read_requests();
    QuotaSpec spec{
        .limit = requests.value_or(1), .period = period.value_or(Days{1}), .capacity = {}};
    if (!read_shape(spec) || !period || !requests) {
      usable_ = false;
      return;
    }
    if (*requests == 0) {
      limit_.quota = Quota::none(*period);
      return;
    }
    const Result<Quota> quota = Quota::make(spec);
    if (quota) {
      limit_.quota = *quota;
    } else {
      reject(node_, quota.error().detail);
    }
  }

  std::optional<Duration> read_unit() {
    if (fields_.is_invalid("unit")) return std::nullopt;
    const std::string unit = fields_.text("unit").value_or("");
    const std::optional<Duration> length = unit_length(unit);
    if (!length) node_of("unit").error("invalid rate limit unit '" + unit + "'");
    return length;
  }

  std::optional<std::uint32_t> read_requests() {
    if (fields_.is_invalid("requests_per_unit")) return std::nullopt;
    const std::optional<YamlNode> node = fields_.find("requests_per_unit");
    if (!node) {
      node_.warning("requests_per_unit is missing, which denies everything, as 0 does");
      return 0;
    }
    const std::optional<std::uint32_t> requests = fields_.number("requests_per_unit");
    if (requests && *requests > Quota::kMaxLimit) {
      node->error("requests_per_unit: " + std::to_string(*requests) + " is more than " +
                  std::to_string(Quota::kMaxLimit) +
                  ", the most that can be counted; what has no limit is `unlimited: true`");
      return std::nullopt;
    }
    return requests;
  }

  // Our extensions. False when one of them was reported.
  bool read_shape(QuotaSpec& spec) {
    spec.algorithm = Algorithm::FixedWindow;
    bool readable = true;
    if (const std::optional<std::string> word = fields_.text("algorithm")) {
      const Result<Algorithm> algorithm = parse_algorithm(*word);
      if (algorithm) spec.algorithm = *algorithm;
      if (!algorithm) node_of("algorithm").error(algorithm.error().detail);
      readable = algorithm.has_value();
    }
    if (fields_.find("burst")) {
      const std::optional<std::uint32_t> burst = fields_.number("burst");
      if (burst) spec.capacity = *burst;
      readable = readable && burst.has_value();
    }
    return readable;
  }

  void read_where() {
    read_terms(fields_, limit_.terms);
    std::vector<RuleLimit> limits;
    if (limit_.quota) limits.push_back({.name = {}, .quota = *limit_.quota});
    limit_.terms = checked_terms(fields_, rule_, limit_.terms, limits);
    if (limit_.quota && limit_.quota->is_none()) limit_.terms = {};  // there is nothing to lease
  }

  const YamlNode& node_;
  std::string_view rule_;
  EnvoyFields fields_;
  EnvoyRateLimit limit_{};
  bool usable_ = true;
};

}  // namespace

std::optional<EnvoyRateLimit> read_rate_limit(const YamlNode& node, const EnvoyDefaults& defaults,
                                              std::string_view rule) {
  return RateLimitReader(node, defaults, rule).read();
}

}  // namespace penstock::rules
