// libFuzzer: a request to any call of the HTTP API, with any target, fields and body. The first
// byte chooses the call; then follow the rest of its path, header lines, an empty line and the
// body. There is exactly one immediate response, and JSON responses are valid JSON.

#include "fuzz_service.hpp"
#include "http/json.hpp"
#include "wire/http/api/api.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace penstock::http;
using penstock::fuzz::check;
using penstock::fuzz::FuzzService;

struct Target {
  std::string_view method;
  std::string_view path;
};
constexpr std::array kTargets{
    Target{"POST", "/v1/check"},         Target{"POST", "/v1/checks"},
    Target{"POST", "/v1/take"},          Target{"POST", "/json"},
    Target{"POST", "/v1/explain"},       Target{"GET", "/v1/keys/"},
    Target{"DELETE", "/v1/keys/"},       Target{"POST", "/v1/keys/a/refund"},
    Target{"POST", "/v1/keys/a/block"},  Target{"POST", "/v1/keys/a/unblock"},
    Target{"POST", "/v1/counters/n"},    Target{"GET", "/v1/counters/"},
    Target{"DELETE", "/v1/counters/"},   Target{"POST", "/v1/reserve"},
    Target{"POST", "/v1/commit"},        Target{"POST", "/v1/cancel"},
    Target{"POST", "/v1/acquire"},       Target{"POST", "/v1/renew"},
    Target{"POST", "/v1/release"},       Target{"GET", "/v1/forward-auth"},
    Target{"POST", "/v1/forward-auth/"}, Target{"GET", "/"}};

struct World {
  FuzzService parts{};
  Api api{
      parts.service,
      {.headers = {penstock::rules::HeaderDraft::XRateLimit},
       .forward_auth = {.domain = "api"},
       .trusted_proxies = TrustedProxies::parse(std::vector<std::string>{"10.0.0.0/8"}).value()}};
};

// Removes a line from the text.
std::string_view line_of(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool says_json(const Response& response) {
  for (const auto& [name, value] : response.fields) {
    check(name.find_first_of("\r\n:") == std::string::npos);
    check(value.find_first_of("\r\n") == std::string::npos);
    if (name == "Content-Type") return value.find("json") != std::string::npos;
  }
  return false;
}

void ask(World& world, const Request& request) {
  std::optional<Response> answered;
  world.api.handle(request, [&answered](Response response) {
    check(!answered);
    answered = std::move(response);
  });
  check(answered.has_value());
  check(answered->status >= 200 && answered->status < 600);
  constexpr JsonLimits kOurs{.values = 1'000'000};
  if (says_json(*answered)) check(parse_json(answered->body, kOurs).has_value());
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static World world;
  world.parts.clock.advance(std::chrono::milliseconds{1});
  std::string_view rest(static_cast<const char*>(static_cast<const void*>(data + 1)), size - 1);
  const Target& chosen = kTargets.at(data[0] % kTargets.size());
  const std::string target = std::string(chosen.path) + std::string(line_of(rest));
  Request request;
  const std::size_t question = std::min(target.find('?'), target.size());
  request.method = chosen.method;
  request.path = std::string_view(target).substr(0, question);
  if (question < target.size()) request.query = std::string_view(target).substr(question + 1);
  request.peer = "10.0.0.1";
  while (request.fields.size() < 100) {
    const std::string_view line = line_of(rest);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) break;
    request.fields.push_back({line.substr(0, colon), line.substr(colon + 1)});
  }
  request.body = rest;
  ask(world, request);
  const penstock::Result<Json> json = parse_json(rest);
  if (json) check(parse_json(to_text(*json)).has_value());
  return 0;
}
