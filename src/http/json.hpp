#pragma once

#include "penstock/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::http {

// Members keep their order, so that answers read as they are documented.
using Json = nlohmann::ordered_json;

// Bounds of what a client can make us build. The largest valid body is a full batch of /v1/checks:
// 1000 checks of some thirty values each.
struct JsonLimits {
  std::size_t depth = 8;        // {"checks":[{"descriptors":[{"entries":[{}]}]}]} has 7
  std::size_t members = 100;    // of one object
  std::size_t values = 32'000;  // in the whole text
};

// Parses untrusted text in time linear in its length. Stops at the first value that exceeds the
// limits, duplicate member or syntax error; the error has the position. Does not throw.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// On one line. Bytes that are not UTF-8 are replaced: JSON cannot hold them.
[[nodiscard]] std::string to_text(const Json& json);

}  // namespace penstock::http
