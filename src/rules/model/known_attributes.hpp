#pragma once

#include <array>
#include <string_view>

// Attributes that listeners provide, and that callers commonly send. configuration_warnings.cpp
// warns of names on none of these lists. No name is one edit away from another: otherwise a typo
// could turn one into the other unnoticed.
namespace penstock::rules {

template <class... Words>
constexpr std::array<std::string_view, sizeof...(Words)> word_list(const Words&... all) {
  return {all...};
}

// Of the gateway and of forward auth.
inline constexpr auto kHttpAttributes =
    word_list("method", "path", "query", "host", "proto", "client_ip");
// Each header of the request, under its name in lower case.
inline constexpr std::string_view kHeaderPrefix = "header.";
inline constexpr auto kCommonHeaders =
    word_list("accept", "accept-language", "authorization", "content-length", "content-type",
              "cookie", "forwarded", "idempotency-key", "origin", "referer", "user-agent",
              "x-api-key", "x-api-token", "x-auth-token", "x-client-id", "x-device-id",
              "x-forwarded-for", "x-real-ip", "x-request-id", "x-requested-with", "x-session-id",
              "x-tenant-id", "x-user-id", "x-account-id", "x-organization-id");

// Also common, but too similar to the names above to be suggested for a typo.
inline constexpr auto kOtherHeaders = word_list("x-client-ip", "x-user-ip", "api-key");

// Of applications that call the API, and of Envoy's rate limit filter.
inline constexpr auto kCommonAttributes =
    word_list("account", "account_id", "api_key", "country", "customer_id", "destination_cluster",
              "device_id", "email", "generic_key", "header_match", "masked_remote_address", "model",
              "operation", "organization", "organization_id", "plan", "project", "project_id",
              "region", "remote_address", "route", "service", "session_id", "source_cluster",
              "team", "tenant", "tenant_id", "tier", "user", "user_agent", "user_id", "username");

// Attributes that clients can leave out, as all headers.
inline constexpr auto kClientSupplied =
    word_list("api_key", "session_id", "user_agent", "query", "email");

}  // namespace penstock::rules
