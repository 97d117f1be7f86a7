#pragma once

#include "replay/format/field_map.hpp"
#include "replay/format/log_record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace penstock::replay {

// Values separated by commas, or by tabs if the first line has one. The first line names the
// columns. Quotes as in RFC 4180, without newlines in values.
class CsvParser final : public LineParser {
 public:
  explicit CsvParser(FieldMap map) : values_(std::move(map)) {}

  [[nodiscard]] LineOutcome parse(std::string_view line, LogRecord& record) override;

 private:
  // Splits a line; false when a quote is not closed.
  [[nodiscard]] bool split(std::string_view line, LogRecord& record);
  [[nodiscard]] LineOutcome read_names(std::string_view line, LogRecord& record);

  FieldValues values_;
  std::vector<std::string> names_;
  std::vector<std::string_view> cells_;
  char separator_ = ',';
};

}  // namespace penstock::replay
