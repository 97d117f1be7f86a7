#include "wire/http/admin/static_files.hpp"

#include "wire/http/admin/web_files.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

// Nothing from elsewhere, no inline scripts or styles, in no frame.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
}};

std::string_view type_of(std::string_view path) {
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return type;
  }
  return "text/plain; charset=utf-8";
}

// FNV-1a of the text, in quotes.
std::string etag_of(std::string_view text) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 1'099'511'628'211U;
  }
  return '"' + std::to_string(hash) + '"';
}

}  // namespace

std::optional<Response> static_file(const Request& request) {
  std::string_view path = request.path;
  path.remove_prefix(path.starts_with('/') ? 1 : 0);
  if (path.empty()) path = "index.html";
  for (const auto& [name, text] : web::kFiles) {
    if (name != path) continue;
    std::string etag = etag_of(text);
    const bool is_known = request.field("If-None-Match") == etag;
    return Response{.status = is_known ? 304U : 200U,
                    .fields = {{"Content-Type", std::string(type_of(path))},
                               {"Content-Security-Policy", std::string(kPolicy)},
                               {"X-Content-Type-Options", "nosniff"},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cache-Control", "no-cache"},
                               {"ETag", std::move(etag)}},
                    .body = is_known ? std::string{} : std::string(text)};
  }
  return std::nullopt;
}

}  // namespace penstock::http
