#include "gateway/upstream/route_table.hpp"

#include "base/check.hpp"
#include "gateway/http1/fields.hpp"

#include <utility>

namespace penstock::gateway {
namespace {

bool host_matches(std::string_view wanted, std::string_view host) {
  if (wanted.empty()) return true;
  if (!wanted.starts_with('.')) return wanted == host;
  return host.size() > wanted.size() && host.ends_with(wanted);
}

}  // namespace

RouteTable::RouteTable(const rules::GatewaySettings& settings) {
  const bool folds = settings.paths.letter_case == rules::PathSettings::LetterCase::Insensitive;
  for (const rules::RouteSettings& given : settings.routes) {
    std::vector<std::string> names;
    Result<rules::PathPattern> path = rules::PathPattern::parse(
        folds ? lower_case(given.path) : given.path, rules::PathPattern::Braces::Literal, names);
    PENSTOCK_CHECK(path.has_value());
    const bool below = given.host.starts_with("*.");
    routes_.push_back({.host = below ? given.host.substr(1) : given.host,
                       .path = *std::move(path),
                       .any_path = given.path == "/**",
                       .upstream = given.upstream,
                       .domain = given.domain.empty() ? settings.domain : given.domain,
                       .strip_prefix = given.strip_prefix});
  }
}

const Route* RouteTable::find(std::string_view host, std::string_view path) const {
  rules::PathSegments segments;
  for (const Route& route : routes_) {
    if (!host_matches(route.host, host)) continue;
    if (route.any_path) return &route;
    if (segments.empty()) segments = rules::split_path(path);
    rules::Captures captures;
    if (route.path.matches(segments, captures)) return &route;
  }
  return nullptr;
}

}  // namespace penstock::gateway
