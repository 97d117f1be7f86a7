#pragma once

#include <array>
#include <string_view>

// Attributes that listeners provide, and that callers commonly send. configuration_warnings.cpp
// warns of names on none of these lists. No name is one edit away from another: otherwise a typo
// could turn one into the other unnoticed.
namespace penstock::rules {

using namespace std::string_view_literals;

// Of the gateway and of forward auth.
inline constexpr std::array kHttpAttributes{"method"sv, "path"sv,  "query"sv,
                                            "host"sv,   "proto"sv, "client_ip"sv};
// Each header of the request, under its name in lower case.
inline constexpr std::string_view kHeaderPrefix = "header.";
inline constexpr std::array kCommonHeaders{
    "accept"sv,           "accept-language"sv, "authorization"sv, "content-length"sv,
    "content-type"sv,     "cookie"sv,          "forwarded"sv,     "idempotency-key"sv,
    "origin"sv,           "referer"sv,         "user-agent"sv,    "x-api-key"sv,
    "x-api-token"sv,      "x-auth-token"sv,    "x-client-id"sv,   "x-device-id"sv,
    "x-forwarded-for"sv,  "x-real-ip"sv,       "x-request-id"sv,  "x-requested-with"sv,
    "x-session-id"sv,     "x-tenant-id"sv,     "x-user-id"sv,     "x-account-id"sv,
    "x-organization-id"sv};

// Also common, but too similar to the names above to be suggested for a typo.
inline constexpr std::array kOtherHeaders{"x-client-ip"sv, "x-user-ip"sv, "api-key"sv};

// Of applications that call the API, and of Envoy's rate limit filter.
inline constexpr std::array kCommonAttributes{"account"sv,
                                              "account_id"sv,
                                              "api_key"sv,
                                              "country"sv,
                                              "customer_id"sv,
                                              "destination_cluster"sv,
                                              "device_id"sv,
                                              "email"sv,
                                              "generic_key"sv,
                                              "header_match"sv,
                                              "masked_remote_address"sv,
                                              "model"sv,
                                              "operation"sv,
                                              "organization"sv,
                                              "organization_id"sv,
                                              "plan"sv,
                                              "project"sv,
                                              "project_id"sv,
                                              "region"sv,
                                              "remote_address"sv,
                                              "route"sv,
                                              "service"sv,
                                              "session_id"sv,
                                              "source_cluster"sv,
                                              "team"sv,
                                              "tenant"sv,
                                              "tenant_id"sv,
                                              "tier"sv,
                                              "user"sv,
                                              "user_agent"sv,
                                              "user_id"sv,
                                              "username"sv};

// Attributes that clients can leave out, as all headers.
inline constexpr std::array kClientSupplied{"api_key"sv, "session_id"sv, "user_agent"sv, "query"sv,
                                            "email"sv};

}  // namespace penstock::rules
