#include "replay/format/field_map.hpp"

#include "base/text.hpp"
#include "replay/format/log_time.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::replay {
namespace {

constexpr std::string_view kTime = "time";
constexpr std::string_view kHeader = "header.";

bool is_prefix(const FieldMap::Entry& entry) {
  return entry.attribute == kHeader && (entry.field.ends_with('.') || entry.field.ends_with('_'));
}

// The member of a record for a known attribute; null for others.
std::string_view* member_of(LogRecord& record, std::string_view attribute) {
  if (attribute == "method") return &record.method;
  if (attribute == "target") return &record.target;
  if (attribute == "path") return &record.path;
  if (attribute == "query") return &record.query;
  if (attribute == "host") return &record.host;
  if (attribute == "proto") return &record.proto;
  if (attribute == "client_ip") return &record.client_ip;
  return nullptr;
}

Error malformed_mapping(std::string_view part) {
  return {ErrorCode::InvalidInput, "--map: \"" + std::string(part) +
                                       "\" must be ATTRIBUTE=FIELD, e.g. client_ip=remote_addr"};
}

}  // namespace

FieldMap::FieldMap(std::vector<Entry> entries) : entries_(std::move(entries)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (is_prefix(entries_[i])) {
      prefixes_.push_back(i);
    } else {
      by_field_[entries_[i].field].push_back(i);
    }
  }
}

Result<std::vector<FieldMap::Entry>> FieldMap::parse(std::string_view text) {
  std::vector<Entry> entries;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) {
      return malformed_mapping(part);
    }
    entries.push_back({.attribute = base::lower_case(part.substr(0, equals)),
                       .field = std::string(part.substr(equals + 1))});
  }
  return entries;
}

bool FieldValues::uses(std::string_view field) const {
  if (map_.by_field_.find(field) != map_.by_field_.end()) return true;
  return std::any_of(map_.prefixes_.begin(), map_.prefixes_.end(), [&](std::size_t prefix) {
    return field.starts_with(map_.entries_[prefix].field);
  });
}

void FieldValues::add(std::string_view field, std::string_view value, LogRecord& record) {
  const auto found = map_.by_field_.find(field);
  if (found != map_.by_field_.end()) {
    for (const std::size_t entry : found->second) {
      std::string_view& kept = values_[entry];
      kept = kept.data() == nullptr ? value
                                    : record.keep(std::string(kept).append(", ").append(value));
    }
    return;
  }
  for (const std::size_t prefix : map_.prefixes_) {
    const FieldMap::Entry& entry = map_.entries_[prefix];
    if (field.starts_with(entry.field)) return add_header(entry, field, value, record);
  }
}

void FieldValues::add_header(const FieldMap::Entry& entry, std::string_view field,
                             std::string_view value, LogRecord& record) const {
  std::string name(kHeader);
  name += base::lower_case(field.substr(entry.field.size()));
  const auto same = std::find_if(record.others.begin(), record.others.end(),
                                 [&](const rules::Attribute& other) { return other.name == name; });
  if (same == record.others.end()) {
    record.others.push_back({.name = record.keep(std::move(name)), .value = value});
  } else {
    same->value = record.keep(std::string(same->value).append(", ").append(value));
  }
}

LineOutcome FieldValues::apply(LogRecord& record) const {
  bool has_time = false;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const FieldMap::Entry& entry = map_.entries_[i];
    if (values_[i].data() == nullptr || values_[i].empty() || values_[i] == "-") continue;
    if (entry.attribute == kTime) {
      if (has_time) continue;
      const std::optional<Instant> time = parse_log_time(values_[i]);
      if (!time) return LineOutcome::malformed("the time has no known form");
      record.time = *time;
      has_time = true;
      continue;
    }
    const std::string_view value = entry.constant.empty() ? values_[i] : entry.constant;
    if (std::string_view* const member = member_of(record, entry.attribute)) {
      if (member->data() == nullptr) *member = value;
    } else if (std::none_of(record.others.begin(), record.others.end(),
                            [&](const auto& other) { return other.name == entry.attribute; })) {
      record.others.push_back({.name = entry.attribute, .value = value});
    }
  }
  if (!has_time) return LineOutcome::malformed("no field for the time; see --map");
  const bool is_request = record.method.data() != nullptr || record.target.data() != nullptr ||
                          record.path.data() != nullptr || record.client_ip.data() != nullptr;
  if (!is_request && record.others.empty()) {
    return LineOutcome::other("none of the mapped fields; see --map");
  }
  return {};
}

}  // namespace penstock::replay
