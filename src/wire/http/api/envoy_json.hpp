#pragma once

#include "http/json.hpp"
#include "http/message.hpp"
#include "penstock/result.hpp"
#include "rules/model/request.hpp"
#include "service/answer.hpp"

// The JSON form of Envoy's rate limit service, as envoyproxy/ratelimit has it under POST /json:
// the protobuf JSON of RateLimitRequest and RateLimitResponse.
namespace penstock::http {

// Names in lowerCamelCase or snake_case, 64-bit numbers also as texts, enumerations by name or
// number, as protobuf reads them. The texts of the request are the JSON's.
[[nodiscard]] Result<rules::Request> read_envoy_request(const Json& json);

// One status for each descriptor; zeros are left out, as protobuf does.
[[nodiscard]] Json envoy_response(const service::Answer& answer, const rules::Request& request);

// 200 or 429 with the above; 400 with a plain "Bad Request" for invalid requests.
[[nodiscard]] Response envoy_http_response(const service::Answer& answer,
                                           const rules::Request& request);
[[nodiscard]] Response envoy_bad_request();

}  // namespace penstock::http
