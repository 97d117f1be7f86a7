#pragma once

#include "penstock/result.hpp"
#include "replay/format/field_map.hpp"
#include "replay/format/log_record.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::replay {

// The formats of access logs. docs/how-to/rehearse-a-limit.md lists the attributes of each.
enum class LogFormat : std::uint8_t {
  Combined,  // nginx, Apache, and access_log: combined of our gateway
  Caddy,
  Envoy,
  Traefik,
  Penstock,  // access_log: json of our gateway
  Json,      // one object per line, by a mapping
  Csv,       // by a mapping
};

inline constexpr std::array kLogFormats{LogFormat::Combined, LogFormat::Caddy,    LogFormat::Envoy,
                                        LogFormat::Traefik,  LogFormat::Penstock, LogFormat::Json,
                                        LogFormat::Csv};
[[nodiscard]] std::string_view to_string(LogFormat format) noexcept;
[[nodiscard]] std::optional<LogFormat> log_format_of(std::string_view name) noexcept;

// `mapping` is used before the fields that the format knows; the combined format has no fields. Of
// JSON and CSV, only the `wanted` headers are kept, if they are given.
[[nodiscard]] std::unique_ptr<LineParser> make_parser(
    LogFormat format, std::span<const FieldMap::Entry> mapping,
    std::optional<std::vector<std::string>> wanted = std::nullopt);

// The format of which one of the first lines is a request; empty when there is none.
[[nodiscard]] std::optional<LogFormat> detect_format(std::string_view first_lines,
                                                     std::span<const FieldMap::Entry> mapping);

}  // namespace penstock::replay
