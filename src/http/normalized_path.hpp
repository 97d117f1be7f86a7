#pragma once

#include "http/message.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace penstock::http {

// A path after normalization (RFC 3986, section 6.2.2), in two forms of the same segments.
struct NormalizedPath {
  // For upstreams: only unreserved characters are decoded, so that the meaning stays; no dot
  // segments.
  std::string forwarded;
  // For rules and routes: decoded, except "/", "\" and "%"; without path parameters and in lower
  // case, if so configured.
  std::string matched;

  friend bool operator==(const NormalizedPath&, const NormalizedPath&) = default;
};

// An error for paths that no server should receive, and for those that the settings reject.
// "*" stays "*". An empty path is "/".
[[nodiscard]] std::variant<NormalizedPath, HttpError> normalized_path(
    std::string_view path, const rules::PathSettings& settings);

}  // namespace penstock::http
