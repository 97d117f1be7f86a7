#include "replay/format/csv_parser.hpp"

#include <algorithm>
#include <optional>

namespace penstock::replay {
namespace {

// The end of a value in quotes: the quote that is not doubled.
std::optional<std::size_t> quoted_end(std::string_view text) {
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
    if (at + 1 >= text.size() || text[at + 1] != '"') return at;
    at += 2;
  }
  return std::nullopt;
}

std::string without_doubled_quotes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"') ++i;
  }
  return plain;
}

}  // namespace

LineOutcome CsvParser::parse(std::string_view line, LogRecord& record) {
  if (names_.empty()) return read_names(line, record);
  if (!split(line, record)) return LineOutcome::malformed("a quote is not closed");
  if (cells_.size() != names_.size()) {
    return LineOutcome::malformed("not as many values as the first line has names");
  }
  values_.clear();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].data() != nullptr) values_.add(names_[i], cells_[i], record);
  }
  return values_.apply(record);
}

LineOutcome CsvParser::read_names(std::string_view line, LogRecord& record) {
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  separator_ = line.find('\t') != std::string_view::npos ? '\t' : ',';
  if (!split(line, record)) return LineOutcome::malformed("a quote is not closed");
  const bool is_known = std::any_of(cells_.begin(), cells_.end(),
                                    [&](std::string_view name) { return values_.uses(name); });
  if (!is_known) return LineOutcome::malformed("the first line names no mapped column; see --map");
  names_.assign(cells_.begin(), cells_.end());
  return LineOutcome::other("the names of the columns");
}

bool CsvParser::split(std::string_view line, LogRecord& record) {
  cells_.clear();
  while (true) {
    std::size_t end = 0;
    if (line.starts_with('"')) {
      const auto quote = quoted_end(line.substr(1));
      if (!quote) return false;
      const std::string_view text = line.substr(1, *quote);
      end = *quote + 2;
      if (end < line.size() && line[end] != separator_) return false;
      const bool is_doubled = text.find('"') != std::string_view::npos;
      cells_.push_back(is_doubled ? record.keep(without_doubled_quotes(text)) : text);
    } else {
      end = std::min(line.find(separator_), line.size());
      cells_.push_back(line.substr(0, end));
    }
    if (end >= line.size()) return true;
    line.remove_prefix(end + 1);
    if (line.empty()) {
      cells_.emplace_back();
      return true;
    }
  }
}

}  // namespace penstock::replay
