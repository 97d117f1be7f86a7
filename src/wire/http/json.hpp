#pragma once

#include "penstock/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::wire::http {

// Members keep their order, so that answers read as they are documented.
using Json = nlohmann::ordered_json;

// Reads a text that a stranger wrote: no deeper than kMaxJsonDepth, no object larger than
// kMaxJsonMembers, no member given twice, no exception. The error says where.
inline constexpr std::size_t kMaxJsonDepth = 12;
inline constexpr std::size_t kMaxJsonMembers = 1000;
[[nodiscard]] Result<Json> parse_json(std::string_view text);

// On one line. Bytes that are not UTF-8 are replaced: JSON cannot hold them.
[[nodiscard]] std::string to_text(const Json& json);

}  // namespace penstock::wire::http
