#pragma once

#include "replay/format/field_map.hpp"
#include "replay/format/json_scanner.hpp"
#include "replay/format/log_record.hpp"

#include <string>
#include <string_view>

namespace penstock::replay {

// One JSON object per line.
class JsonParser final : public LineParser, private JsonScanner::Visitor {
 public:
  // Lines without the field `required` are not requests; empty: none is required.
  explicit JsonParser(FieldMap map, std::string required = {})
      : values_(std::move(map)), required_(std::move(required)) {}

  [[nodiscard]] LineOutcome parse(std::string_view line, LogRecord& record) override;

 private:
  void on_value(std::string_view path, std::string_view value, bool is_escaped) override;

  JsonScanner scanner_;
  FieldValues values_;
  std::string required_;
  bool has_required_ = false;
  LogRecord* record_ = nullptr;  // of the line that is parsed
};

}  // namespace penstock::replay
