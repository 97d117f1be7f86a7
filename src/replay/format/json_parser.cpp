#include "replay/format/json_parser.hpp"

namespace penstock::replay {

LineOutcome JsonParser::parse(std::string_view line, LogRecord& record) {
  values_.clear();
  record_ = &record;
  has_required_ = required_.empty();
  if (!scanner_.scan(line, *this)) return LineOutcome::malformed("not a JSON object");
  if (!has_required_) return LineOutcome::other("not an entry of an access log");
  return values_.apply(record);
}

void JsonParser::on_value(std::string_view path, std::string_view value, bool is_escaped) {
  if (path == required_) has_required_ = true;
  if (!values_.uses(path)) return;
  values_.add(path, is_escaped ? record_->keep(unescaped_json(value)) : value, *record_);
}

}  // namespace penstock::replay
