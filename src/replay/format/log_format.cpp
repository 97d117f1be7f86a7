#include "replay/format/log_format.hpp"

#include "replay/format/combined_parser.hpp"
#include "replay/format/csv_parser.hpp"
#include "replay/format/json_parser.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::replay {
namespace {

using Entries = std::vector<FieldMap::Entry>;

// The fields of a format, and the one without which a line is not a request.
struct JsonFields {
  Entries entries;
  std::string required;
};

// https://caddyserver.com/docs/caddyfile/directives/log
JsonFields caddy_fields() {
  return {.entries = {{.attribute = "time", .field = "ts"},
                      {.attribute = "method", .field = "request.method"},
                      {.attribute = "target", .field = "request.uri"},
                      {.attribute = "host", .field = "request.host"},
                      {.attribute = "client_ip", .field = "request.client_ip"},
                      {.attribute = "client_ip", .field = "request.remote_ip"},
                      {.attribute = "proto", .field = "request.tls.version", .constant = "https"},
                      {.attribute = "header.", .field = "request.headers."}},
          .required = "request.uri"};
}

// The names of Envoy's documentation and of Istio; they are chosen by the operator.
JsonFields envoy_fields() {
  return {.entries = {{.attribute = "time", .field = "start_time"},
                      {.attribute = "method", .field = "method"},
                      {.attribute = "target", .field = "path"},
                      {.attribute = "host", .field = "authority"},
                      {.attribute = "client_ip", .field = "downstream_remote_address"},
                      {.attribute = "header.user-agent", .field = "user_agent"},
                      {.attribute = "header.x-forwarded-for", .field = "x_forwarded_for"},
                      {.attribute = "header.x-request-id", .field = "request_id"}},
          .required = "start_time"};
}

// https://doc.traefik.io/traefik/observability/access-logs/
JsonFields traefik_fields() {
  return {.entries = {{.attribute = "time", .field = "StartUTC"},
                      {.attribute = "time", .field = "time"},
                      {.attribute = "method", .field = "RequestMethod"},
                      {.attribute = "target", .field = "RequestPath"},
                      {.attribute = "host", .field = "RequestHost"},
                      {.attribute = "proto", .field = "RequestScheme"},
                      {.attribute = "client_ip", .field = "ClientHost"},
                      {.attribute = "client_ip", .field = "ClientAddr"},
                      {.attribute = "header.", .field = "request_"}},
          .required = "RequestPath"};
}

// gateway/proxy/access_log.cpp
JsonFields penstock_fields() {
  return {.entries = {{.attribute = "time", .field = "time"},
                      {.attribute = "method", .field = "method"},
                      {.attribute = "target", .field = "target"},
                      {.attribute = "host", .field = "host"},
                      {.attribute = "client_ip", .field = "client"},
                      {.attribute = "header.referer", .field = "referer"},
                      {.attribute = "header.user-agent", .field = "user_agent"}},
          .required = "client"};
}

// Common names, for files without a mapping.
JsonFields common_fields() {
  return {.entries = {{.attribute = "time", .field = "time"},
                      {.attribute = "time", .field = "timestamp"},
                      {.attribute = "time", .field = "@timestamp"},
                      {.attribute = "time", .field = "ts"},
                      {.attribute = "method", .field = "method"},
                      {.attribute = "target", .field = "target"},
                      {.attribute = "target", .field = "uri"},
                      {.attribute = "target", .field = "url"},
                      {.attribute = "path", .field = "path"},
                      {.attribute = "query", .field = "query"},
                      {.attribute = "host", .field = "host"},
                      {.attribute = "proto", .field = "proto"},
                      {.attribute = "client_ip", .field = "client_ip"},
                      {.attribute = "client_ip", .field = "remote_addr"},
                      {.attribute = "header.", .field = "header."}},
          .required = {}};
}

JsonFields fields_of(LogFormat format) {
  switch (format) {
    case LogFormat::Caddy: return caddy_fields();
    case LogFormat::Envoy: return envoy_fields();
    case LogFormat::Traefik: return traefik_fields();
    case LogFormat::Penstock: return penstock_fields();
    case LogFormat::Combined:
    case LogFormat::Json:
    case LogFormat::Csv: break;
  }
  return common_fields();
}

constexpr std::size_t kMaxDetectedLines = 20;

bool has_request(std::string_view lines, LineParser& parser) {
  for (std::size_t i = 0; i < kMaxDetectedLines && !lines.empty(); ++i) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    LogRecord record;
    if (!line.empty() && parser.parse(line, record).kind == LineOutcome::Kind::Request) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(LogFormat format) noexcept {
  switch (format) {
    case LogFormat::Combined: return "combined";
    case LogFormat::Caddy: return "caddy";
    case LogFormat::Envoy: return "envoy";
    case LogFormat::Traefik: return "traefik";
    case LogFormat::Penstock: return "penstock";
    case LogFormat::Json: return "json";
    case LogFormat::Csv: return "csv";
  }
  return "unknown";
}

std::optional<LogFormat> log_format_of(std::string_view name) noexcept {
  const auto found = std::find_if(kLogFormats.begin(), kLogFormats.end(),
                                  [&](LogFormat format) { return to_string(format) == name; });
  return found == kLogFormats.end() ? std::nullopt : std::optional(*found);
}

std::unique_ptr<LineParser> make_parser(LogFormat format, std::span<const FieldMap::Entry> mapping,
                                        std::optional<std::vector<std::string>> wanted) {
  if (format == LogFormat::Combined) return std::make_unique<CombinedParser>();
  JsonFields fields = fields_of(format);
  fields.entries.insert(fields.entries.begin(), mapping.begin(), mapping.end());
  FieldMap map(std::move(fields.entries));
  if (wanted) map.keep_only(*std::move(wanted));
  if (format == LogFormat::Csv) return std::make_unique<CsvParser>(std::move(map));
  return std::make_unique<JsonParser>(std::move(map), std::move(fields.required));
}

std::optional<LogFormat> detect_format(std::string_view first_lines,
                                       std::span<const FieldMap::Entry> mapping) {
  for (const LogFormat format : kLogFormats) {
    const std::unique_ptr<LineParser> parser = make_parser(format, mapping);
    if (has_request(first_lines, *parser)) return format;
  }
  return std::nullopt;
}

}  // namespace penstock::replay
