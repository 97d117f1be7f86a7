#pragma once

#include "penstock/time.hpp"
#include "rules/model/request.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::replay {

// One line of an access log, as it is written there. The texts point into the line, or into
// `texts`. A text without data() is absent.
struct LogRecord {
  Instant time{};
  std::string_view method{};
  std::string_view target{};  // path and query, or a whole URI
  std::string_view path{};    // in place of the target
  std::string_view query{};   // without the question mark
  std::string_view host{};
  std::string_view proto{};  // "http" or "https"
  std::string_view client_ip{};
  std::vector<rules::Attribute> others{};  // "header.user-agent", and what a mapping names
  std::deque<std::string> texts{};         // values that were escaped in the line

  void clear() noexcept {
    others.clear();
    if (!texts.empty()) texts.clear();
    method = target = path = query = host = proto = client_ip = {};
  }
  [[nodiscard]] std::string_view keep(std::string text) {
    return texts.emplace_back(std::move(text));
  }
};

// What a line is. The reason is a constant: reports show nothing of a line that is not a request.
struct LineOutcome {
  enum class Kind : std::uint8_t {
    Request,
    Other,      // well-formed, but not a request: a CSV header, an entry of another logger
    Malformed,  // not a line of this format
  };
  Kind kind = Kind::Request;
  std::string_view reason{};

  [[nodiscard]] static constexpr LineOutcome malformed(std::string_view reason) {
    return {.kind = Kind::Malformed, .reason = reason};
  }
  [[nodiscard]] static constexpr LineOutcome other(std::string_view reason) {
    return {.kind = Kind::Other, .reason = reason};
  }
};

// Reads the lines of one file. It may keep state between lines, e.g. the header of a CSV file.
//
// Thread-safety: none.
class LineParser {
 public:
  LineParser() = default;
  LineParser(const LineParser&) = delete;
  LineParser& operator=(const LineParser&) = delete;
  virtual ~LineParser() = default;

  // Fills the record. The line has no newline. REQUIRES: the record is clear.
  [[nodiscard]] virtual LineOutcome parse(std::string_view line, LogRecord& record) = 0;
};

}  // namespace penstock::replay
