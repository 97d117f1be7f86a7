#include "gateway/proxy/proxy_error.hpp"

#include "gateway/http1/fields.hpp"
#include "http/problem.hpp"

#include <algorithm>
#include <array>

namespace penstock::gateway {
namespace {

using namespace std::string_view_literals;

struct Explained {
  unsigned status;
  std::string_view detail;
};

Explained explain(ProxyError error) noexcept {
  switch (error) {
    case ProxyError::NoRoute: return {404, "no route matches"};
    case ProxyError::ClientInFlight: return {429, "too many of your requests are in flight"};
    case ProxyError::UpstreamInFlight: return {503, "too many requests are in flight"};
    case ProxyError::NoHealthyServer: return {503, "no healthy upstream"};
    case ProxyError::ConnectFailed: return {502, "no server accepts connections"};
    case ProxyError::NoResponse:
      return {502, "the server closed the connection without a response"};
    case ProxyError::MalformedResponse: return {502, "the server's response is invalid"};
    case ProxyError::UpstreamTimeout: return {504, "the server did not answer in time"};
    case ProxyError::BodyTimeout: return {408, "the request body did not arrive in time"};
    case ProxyError::MalformedBody: return {400, "the request body is malformed"};
    case ProxyError::InvalidPath:
      return {400, "the path does not start with the prefix of its route"};
  }
  return {500, ""};
}

bool is_ours(std::string_view name, const answer::HeaderFields& ours) {
  return std::any_of(ours.begin(), ours.end(),
                     [&](const auto& field) { return equals_ignoring_case(field.first, name); });
}

}  // namespace

http::Response error_response(ProxyError error, std::string_view upstream, std::string_view why) {
  const Explained explained = explain(error);
  std::string detail(explained.detail);
  if (!why.empty()) detail.append(": ").append(why);
  if (!upstream.empty()) detail = std::string(upstream) + ": " + detail;
  http::Response response = http::problem_response({.status = explained.status, .detail = detail});
  if (explained.status == 429 || explained.status == 503) {
    response.fields.emplace_back("Retry-After", "1");
  }
  return response;
}

void keep_end_to_end(ResponseHead& head, const answer::HeaderFields& ours, Trailers trailers) {
  const HopByHop hop_by_hop(head.fields);
  // 204 has no body and no Content-Length (RFC 9110, section 8.6).
  const bool no_length = head.status == 204 || head.status / 100 == 1;
  std::erase_if(head.fields, [&](const Field& field) {
    return hop_by_hop.has(field.name) || is_ours(field.name, ours) ||
           (no_length && equals_lower_case(field.name, "content-length")) ||
           (trailers == Trailers::No && equals_lower_case(field.name, "trailer"));
  });
}

bool is_idempotent(std::string_view method) noexcept {
  constexpr std::array kMethods{"GET"sv, "HEAD"sv, "OPTIONS"sv, "TRACE"sv, "PUT"sv, "DELETE"sv};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

}  // namespace penstock::gateway
