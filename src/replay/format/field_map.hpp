#pragma once

#include "base/text_hash.hpp"
#include "penstock/result.hpp"
#include "replay/format/log_record.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::replay {

// Which field of a log is which attribute of a request. The attributes "time" and "target" (path
// and query in one) exist only here.
class FieldMap {
 public:
  // One field. A field that ends with a dot or an underscore and maps to "header." is a prefix: the
  // rest of its name is the name of a header.
  struct Entry {
    std::string attribute;
    std::string field;
    std::string constant{};  // replaces the value of the field
  };

  FieldMap() = default;
  // Of several fields of one attribute, the first that a line has is used.
  explicit FieldMap(std::vector<Entry> entries);

  // "client_ip=remote_addr,header.x-api-key=request.key": these are used before the others.
  [[nodiscard]] static Result<std::vector<Entry>> parse(std::string_view text);

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  friend class FieldValues;
  std::vector<Entry> entries_;
  base::TextMap<std::vector<std::size_t>> by_field_;
  std::vector<std::size_t> prefixes_;
};

// The fields of one line, collected in any order.
class FieldValues {
 public:
  explicit FieldValues(FieldMap map) : map_(std::move(map)), values_(map_.entries_.size()) {}

  // Whether any attribute uses the field.
  [[nodiscard]] bool uses(std::string_view field) const;

  void clear() { values_.assign(values_.size(), {}); }
  // The value is kept by the record. A field that occurs again is a list.
  void add(std::string_view field, std::string_view value, LogRecord& record);
  // Fills the record; a line needs a time, and one of method, path and client address.
  [[nodiscard]] LineOutcome apply(LogRecord& record) const;

 private:
  void add_header(const FieldMap::Entry& entry, std::string_view field, std::string_view value,
                  LogRecord& record) const;

  FieldMap map_;
  std::vector<std::string_view> values_;  // by entry; without data() when absent
};

}  // namespace penstock::replay
