#include "rules/yaml/terms_format.hpp"

#include "core/lease.hpp"

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

std::string unsupported_reason(const Quota& quota, Mode mode) {
  return std::string(to_string(quota.algorithm())) +
         " counts each unit when it is spent, and those of a lease are spent later; use " +
         "mode: exact, or an algorithm that " + std::string(to_string(mode)) +
         " can keep: token_bucket, gcra, fixed_window, anchored_window or sub_windows";
}

// "lease_lifetime: "1s" has no effect in rule "x" with mode exact; it needs mode: lease"
void report_useless(const YamlNode& node, const TermsContext& place, Mode mode,
                    std::string_view needed) {
  node.error(std::string(node.label()) + ": " + quote_value(node.raw()) +
             " has no effect in rule " + quote_value(place.name) + " with mode " +
             std::string(to_string(mode)) + "; it needs mode: " + std::string(needed));
}

}  // namespace

void read_terms(const TermsYaml& written, core::SharingTerms& terms) {
  if (written.mode) {
    const auto mode = written.mode->choice<Mode>({{"exact", Mode::Exact},
                                                  {"lease", Mode::Lease},
                                                  {"lease_strict", Mode::LeaseStrict},
                                                  {"adaptive", Mode::Adaptive},
                                                  {"local", Mode::Local}});
    if (mode) terms.mode = *mode;
  }
  if (written.lifetime) {
    const auto lifetime = written.lifetime->duration(kMinLifetime, kMaxLifetime);
    if (lifetime) terms.lifetime = *lifetime;
  }
  if (written.share) {
    const auto divided = written.share->choice<bool>({{"none", false}, {"nodes", true}});
    if (divided) terms.divided = *divided;
  }
}

core::SharingTerms checked_terms(const TermsContext& place, const core::SharingTerms& terms,
                                 std::span<const RuleLimit> limits) {
  // an invalid word is reported once
  if (place.written.mode && place.written.mode->raw() != to_string(terms.mode)) return terms;
  for (const RuleLimit& limit : limits) {
    if (supports_terms(limit.quota, terms)) continue;
    const bool is_own = place.written.mode.has_value();
    (is_own ? *place.written.mode : place.rule)
        .error("mode: " + std::string(to_string(terms.mode)) +
               (is_own ? "" : ", which the domain says,") + " cannot hold for rule " +
               quote_value(place.name) + " with limit " + quote_value(to_string(limit.quota)) +
               ": " + unsupported_reason(limit.quota, terms.mode));
  }
  core::SharingTerms kept{.mode = terms.mode};
  if (takes_leases(terms.mode)) {
    kept.lifetime = terms.lifetime;
  } else if (place.written.lifetime) {
    report_useless(*place.written.lifetime, place, terms.mode, "lease, lease_strict or adaptive");
  }
  if (terms.mode == Mode::Local) {
    kept.divided = terms.divided;
  } else if (place.written.share && terms.divided) {
    report_useless(*place.written.share, place, terms.mode, "local");
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
