#include "gateway/proxy/access_log.hpp"

#include "http/json_writer.hpp"

#include <array>
#include <ctime>

namespace penstock::gateway {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{32} << 10U;

std::string_view text_of(Version version) noexcept {
  if (version == Version::Http10) return "HTTP/1.0";
  return version == Version::Http11 ? "HTTP/1.1" : "HTTP/2";
}

std::string formatted(Instant time, const char* format) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

// Escapes quotes, backslashes and non-printable characters as \x22.
void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out += '"';
  for (const char letter : text.empty() ? std::string_view("-") : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte > 0x7E || letter == '"' || letter == '\\') {
      out.append({'\\', 'x', kHex[byte / 16U], kHex[byte % 16U]});
    } else {
      out += letter;
    }
  }
  out += '"';
}

}  // namespace

std::string combined_line(const AccessEntry& entry) {
  std::string line = entry.client.empty() ? "-" : entry.client;
  line += " - - [" + formatted(entry.time, "%d/%b/%Y:%H:%M:%S +0000") + "] ";
  append_quoted(line,
                entry.method + " " + entry.target + " " + std::string(text_of(entry.version)));
  line += " " + std::to_string(entry.status) + " " + std::to_string(entry.bytes) + " ";
  append_quoted(line, entry.referer);
  line += ' ';
  append_quoted(line, entry.agent);
  return line += '\n';
}

std::string json_line(const AccessEntry& entry) {
  std::string line;
  http::JsonWriter writer(line);
  writer.begin_object().name("time").text(formatted(entry.time, "%Y-%m-%dT%H:%M:%SZ"));
  writer.name("client").text(entry.client).name("method").text(entry.method);
  writer.name("target").text(entry.target).name("host").text(entry.host);
  writer.name("protocol").text(text_of(entry.version)).name("status").number(entry.status);
  writer.name("bytes").number(entry.bytes);
  writer.name("microseconds").number(static_cast<std::uint64_t>(entry.took.count()));
  writer.name("upstream").text(entry.upstream).name("decision").text(entry.decision);
  writer.name("referer").text(entry.referer).name("user_agent").text(entry.agent);
  writer.name("truncated").boolean(entry.truncated).end_object();
  return line += '\n';
}

Result<void> AccessLog::open() {
  if (!is_on()) return {};
  const std::string path = settings_.path == "stdout" ? "/dev/stdout" : settings_.path;
  file_.rdbuf()->pubsetbuf(nullptr, 0);  // the collected lines are written at once
  file_.open(path, std::ios::app | std::ios::binary);
  if (file_) return {};
  return Error{ErrorCode::Misconfigured, "access_log: " + path + " cannot be written"};
}

void AccessLog::write(const AccessEntry& entry) {
  if (!is_on()) return;
  const bool is_json = settings_.format == rules::AccessLogSettings::Format::Json;
  lines_ += is_json ? json_line(entry) : combined_line(entry);
  if (lines_.size() >= kFlushBytes) flush();
}

void AccessLog::flush() {
  if (lines_.empty()) return;
  file_.write(lines_.data(), static_cast<std::streamsize>(lines_.size()));
  file_.clear();  // e.g. disk full: these lines are lost, later ones may succeed
  lines_.clear();
}

}  // namespace penstock::gateway
