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

bool is_set(std::string_view text) { return text.data() != nullptr; }

// Path and query are in the target, or in fields of their own: what is set first is kept.
bool is_in_target(const LogRecord& record, std::string_view attribute) {
  if (attribute == "path") return is_set(record.target);
  return attribute == "query" && record.target.find('?') != std::string_view::npos;
}

void set_attribute(LogRecord& record, std::string_view attribute, std::string_view value) {
  if (is_in_target(record, attribute)) return;
  if (attribute == "target" && is_set(record.path)) {
    const std::size_t mark = value.find('?');
    if (mark == std::string_view::npos) return;
    attribute = "query";
    value = value.substr(mark + 1);
  }
  if (std::string_view* const member = member_of(record, attribute)) {
    if (!is_set(*member)) *member = value;
  } else if (std::none_of(record.others.begin(), record.others.end(),
                          [&](const auto& other) { return other.name == attribute; })) {
    record.others.push_back({.name = attribute, .value = value});
  }
}

std::string attribute_name(std::string_view text) {
  std::string lower = base::lower_case(text);
  return lower.starts_with(kHeader) ? lower : std::string(text);
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

void FieldMap::keep_only(std::vector<std::string> attributes) {
  std::sort(attributes.begin(), attributes.end());
  wanted_ = std::move(attributes);
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
    entries.push_back({.attribute = attribute_name(part.substr(0, equals)),
                       .field = std::string(part.substr(equals + 1))});
  }
  return entries;
}

void FieldValues::Value::append(std::string_view value, LogRecord& record) {
  if (count == kMaxValues) return;
  if (count++ == 0) {
    text = value;
    return;
  }
  if (list == nullptr) list = &record.texts.emplace_back(text);
  list->append(", ").append(value);
  text = *list;
}

void FieldValues::clear() {
  values_.assign(values_.size(), {});
  headers_.clear();
  has_unwanted_header_ = false;
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
    for (const std::size_t entry : found->second) values_[entry].append(value, record);
    return;
  }
  for (const std::size_t prefix : map_.prefixes_) {
    const FieldMap::Entry& entry = map_.entries_[prefix];
    if (field.starts_with(entry.field)) return add_header(entry, field, value, record);
  }
}

void FieldValues::add_header(const FieldMap::Entry& entry, std::string_view field,
                             std::string_view value, LogRecord& record) {
  std::string name(kHeader);
  name += base::lower_case(field.substr(entry.field.size()));
  const auto& wanted = map_.wanted_;
  if (wanted && !std::binary_search(wanted->begin(), wanted->end(), name)) {
    has_unwanted_header_ = true;
    return;
  }
  std::size_t index = 0;
  while (index < headers_.size() && record.others[index].name != name) ++index;
  if (index == kMaxHeaders) return;
  if (index == headers_.size()) {
    headers_.emplace_back();
    record.others.push_back({.name = record.keep(std::move(name)), .value = {}});
  }
  headers_[index].append(value, record);
  record.others[index].value = headers_[index].text;
}

LineOutcome FieldValues::apply(LogRecord& record) const {
  bool has_time = false;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const FieldMap::Entry& entry = map_.entries_[i];
    const std::string_view text = values_[i].text;
    if (text.empty() || text == "-") continue;
    if (entry.attribute == kTime) {
      if (has_time) continue;
      const std::optional<Instant> time = parse_log_time(text);
      if (!time) return LineOutcome::malformed("the time has no known form");
      record.time = *time;
      has_time = true;
      continue;
    }
    set_attribute(record, entry.attribute, entry.constant.empty() ? text : entry.constant);
  }
  if (!has_time) return LineOutcome::malformed("no field for the time; see --map");
  const bool is_request = record.method.data() != nullptr || record.target.data() != nullptr ||
                          record.path.data() != nullptr || record.client_ip.data() != nullptr;
  if (!is_request && record.others.empty() && !has_unwanted_header_) {
    return LineOutcome::other("none of the mapped fields; see --map");
  }
  return {};
}

}  // namespace penstock::replay
