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
  // Of the headers that a prefix finds, keeps only these ("header.x-api-key").
  void keep_only(std::vector<std::string> attributes);

  // "client_ip=remote_addr,header.x-api-key=request.key": these are used before the others. Names
  // of headers are converted to lower case.
  [[nodiscard]] static Result<std::vector<Entry>> parse(std::string_view text);

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  friend class FieldValues;
  std::vector<Entry> entries_;
  base::TextMap<std::vector<std::size_t>> by_field_;
  std::vector<std::size_t> prefixes_;
  std::optional<std::vector<std::string>> wanted_;  // sorted; empty: all headers
};

// The fields of one line, collected in any order. Memory is bounded by the length of the line:
// further values of a field, and further headers, are ignored.
class FieldValues {
 public:
  static constexpr std::size_t kMaxValues = 100;   // of a field
  static constexpr std::size_t kMaxHeaders = 100;  // of a line, found by a prefix

  explicit FieldValues(FieldMap map) : map_(std::move(map)), values_(map_.entries_.size()) {}

  // Whether any attribute uses the field.
  [[nodiscard]] bool uses(std::string_view field) const;

  void clear();
  // The value is kept by the record. A field that occurs again is a list.
  void add(std::string_view field, std::string_view value, LogRecord& record);
  // Fills the record; a line needs a time, and one of method, path and client address.
  [[nodiscard]] LineOutcome apply(LogRecord& record) const;

 private:
  // One value, or a list of several, joined by commas.
  struct Value {
    std::string_view text{};
    std::string* list = nullptr;  // owned by the record; null for one value
    std::size_t count = 0;        // 0 when absent

    void append(std::string_view value, LogRecord& record);
  };

  void add_header(const FieldMap::Entry& entry, std::string_view field, std::string_view value,
                  LogRecord& record);

  FieldMap map_;
  std::vector<Value> values_;   // by entry
  std::vector<Value> headers_;  // found by a prefix: the first of LogRecord::others
  bool has_unwanted_header_ = false;
};

}  // namespace penstock::replay
