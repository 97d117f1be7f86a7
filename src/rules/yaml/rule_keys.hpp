#pragma once

#include <array>
#include <span>
#include <string_view>

// Every key of maps and domains. examples/penstock.yaml and docs/reference/configuration.md list
// them all; a test checks it. The keys of settings are in rules/settings.
namespace penstock::rules::keys {

using namespace std::string_view_literals;

inline constexpr std::array kMap{"file"sv, "values"sv};
inline constexpr std::array kDomain{
    "on_failure"sv, "mode"sv,         "lease_lifetime"sv, "share"sv,       "algorithm"sv,
    "shadow"sv,     "count_denied"sv, "ipv4_prefix"sv,    "ipv6_prefix"sv, "attributes"sv,
    "deny"sv,       "allow"sv,        "rules"sv,          "if_missing"sv,  "caller_attributes"sv};
inline constexpr std::array kAttribute{"map"sv, "by"sv, "default"sv};
inline constexpr std::array kListEntry{"name"sv, "description"sv, "when"sv};
inline constexpr std::array kRule{
    "name"sv,         "description"sv,    "when"sv,        "key"sv,
    "limit"sv,        "limits"sv,         "unlimited"sv,   "algorithm"sv,
    "burst"sv,        "cost"sv,           "shadow"sv,      "on_failure"sv,
    "mode"sv,         "lease_lifetime"sv, "share"sv,       "ipv4_prefix"sv,
    "count_denied"sv, "overrides"sv,      "ipv6_prefix"sv, "if_missing"sv,
    "enforce"sv,      "abort"sv,          "near_limit"sv};
inline constexpr std::array kLimit{"limit"sv, "algorithm"sv, "burst"sv};
inline constexpr std::array kCost{"attribute"sv, "default"sv};
inline constexpr std::array kOverrides{"map"sv, "by"sv};
inline constexpr std::array kAbort{"denied_above"sv, "over"sv, "min_requests"sv};
inline constexpr std::array kCondition{"equals"sv, "one_of"sv, "prefix"sv,  "glob"sv, "template"sv,
                                       "cidr"sv,   "regex"sv,  "present"sv, "not"sv};

struct Section {
  std::string_view name;
  std::span<const std::string_view> keys;
};
inline constexpr std::array kAll{Section{"map", kMap},
                                 Section{"domain", kDomain},
                                 Section{"attribute", kAttribute},
                                 Section{"deny and allow", kListEntry},
                                 Section{"rule", kRule},
                                 Section{"limits", kLimit},
                                 Section{"cost", kCost},
                                 Section{"overrides", kOverrides},
                                 Section{"abort", kAbort},
                                 Section{"condition", kCondition}};

}  // namespace penstock::rules::keys
