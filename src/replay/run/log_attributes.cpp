#include "replay/run/log_attributes.hpp"

#include "base/text.hpp"
#include "http/normalized_path.hpp"
#include "http/target.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace penstock::replay {
namespace {

constexpr std::string_view kForwardedFor = "header.x-forwarded-for";
constexpr std::string_view kRealIp = "header.x-real-ip";
constexpr std::string_view kHeaderPrefix = "header.";

bool has_lower_case(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// Four numbers up to 255 without leading zeros: the form that an address is converted to. Most
// lines have one.
bool is_canonical_ipv4(std::string_view text) {
  unsigned parts = 0;
  while (true) {
    unsigned number = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 4) {
      number = number * 10 + static_cast<unsigned>(text[digits++] - '0');
    }
    if (digits == 0 || number > 255 || (digits > 1 && text.front() == '0')) return false;
    text.remove_prefix(digits);
    if (++parts == 4) return text.empty();
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
  }
}

}  // namespace

LogAttributes::LogAttributes(Settings settings) : settings_(std::move(settings)) {
  if (!settings_.wanted) return;
  for (Known& known : known_) known.is_wanted = false;
  for (const std::string& name : *settings_.wanted) {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& known) { return known.name == name; });
    if (found == known_.end()) {
      others_.emplace(name, false);
    } else {
      found->is_wanted = true;
    }
  }
}

std::optional<std::vector<rules::Attribute>*> LogAttributes::derive(const LogRecord& record) {
  attributes_.clear();
  const std::optional<Target> target = split(record);
  if (!target) return std::nullopt;
  if (record.method.data() != nullptr) {
    const bool is_plain = !has_lower_case(record.method);
    if (!is_plain) method_ = base::upper_case(record.method);
    add(KnownName::Method, is_plain ? record.method : std::string_view(method_));
  }
  if (target->path.data() != nullptr && !add_path(target->path)) return std::nullopt;
  if (!target->query.empty()) add(KnownName::Query, target->query);
  if (target->host.data() != nullptr) add_host(target->host);
  if (target->scheme.data() != nullptr) add(KnownName::Proto, target->scheme);
  if (wants(KnownName::ClientIp) && record.client_ip.data() != nullptr) add_client(record);
  if (settings_.wanted && others_.empty()) return &attributes_;
  for (const rules::Attribute& other : record.others) add_other(other);
  return &attributes_;
}

// "/a?b", "http://host/a?b" and "*".
std::optional<LogAttributes::Target> LogAttributes::split(const LogRecord& record) {
  Target target{
      .path = record.path, .query = record.query, .host = record.host, .scheme = record.proto};
  std::string_view text = record.target;
  if (text.data() == nullptr) return target;
  if (text.find('#') != std::string_view::npos) return std::nullopt;
  const std::size_t scheme = text.starts_with('/') ? std::string_view::npos : text.find("://");
  if (scheme != std::string_view::npos) {
    const std::string_view authority = text.substr(scheme + 3);
    const std::size_t end = std::min(authority.find_first_of("/?"), authority.size());
    if (target.host.data() == nullptr) target.host = authority.substr(0, end);
    text = authority.substr(end);
  }
  const std::size_t mark = std::min(text.find('?'), text.size());
  target.path = text.substr(0, mark);
  if (mark < text.size() && target.query.data() == nullptr) target.query = text.substr(mark + 1);
  if (target.path == "*" && record.method != "OPTIONS") return std::nullopt;
  return target;
}

bool LogAttributes::add_path(std::string_view path) {
  auto normal = http::normalized_path(path, settings_.paths);
  auto* const accepted = std::get_if<http::NormalizedPath>(&normal);
  if (accepted == nullptr) return false;
  path_ = std::move(accepted->matched);
  add(KnownName::Path, path_);
  return true;
}

void LogAttributes::add_host(std::string_view host) {
  if (!wants(KnownName::Host)) return;
  host_ = http::host_name(host);
  add(KnownName::Host, host_);
}

void LogAttributes::add_client(const LogRecord& record) {
  std::array<http::Field, 2> fields;
  std::size_t count = 0;
  for (const rules::Attribute& other : record.others) {
    if (count == fields.size() || (other.name != kForwardedFor && other.name != kRealIp)) continue;
    fields[count++] = {.name = other.name.substr(kHeaderPrefix.size()), .value = other.value};
  }
  if (count == 0 && is_canonical_ipv4(record.client_ip))
    return add(KnownName::ClientIp, record.client_ip);
  client_ =
      http::client_address(record.client_ip, std::span(fields).first(count), settings_.trusted);
  add(KnownName::ClientIp, client_);
}

void LogAttributes::add_other(const rules::Attribute& other) {
  if (settings_.wanted) {
    const auto found = others_.find(other.name);
    if (found == others_.end()) return;
    found->second = true;
  }
  attributes_.push_back(other);
}

void LogAttributes::add(KnownName name, std::string_view value) {
  Known& known = known_[static_cast<std::size_t>(name)];
  known.is_seen = true;
  if (known.is_wanted) attributes_.push_back({.name = known.name, .value = value});
}

std::vector<std::string> LogAttributes::never_seen() const {
  std::vector<std::string> names;
  for (const Known& known : known_) {
    if (known.is_wanted && !known.is_seen) names.emplace_back(known.name);
  }
  for (const auto& [name, is_seen] : others_) {
    if (!is_seen) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace penstock::replay
