#pragma once

#include "base/text.hpp"
#include "http/message.hpp"
#include "penstock/result.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Where a request goes: the parts of paths and queries.
namespace penstock::http {

using base::percent_decoded;

// "/v1/keys/a%2Fb" as "v1", "keys", "a%2Fb": still encoded.
[[nodiscard]] std::vector<std::string_view> segments(std::string_view path);

// The parameters of a query, each taken once. As with JsonObjectReader, the first error is kept,
// and a parameter that was not taken is one.
class Parameters {
 public:
  explicit Parameters(std::string_view query);

  [[nodiscard]] std::optional<std::string_view> text(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view name, std::int64_t least,
                                                         std::int64_t most);
  void add_error(const std::string& what);
  [[nodiscard]] Result<void> finish() const;

 private:
  struct Parameter {
    std::string name;
    std::string value;
    bool taken = false;
  };
  std::vector<Parameter> parameters_;
  std::string known_;
  std::optional<std::string> error_;
};

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
