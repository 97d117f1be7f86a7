#pragma once

#include "replay/replay.hpp"
#include "replay/report/redactor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::replay {

// A limit of the rules, and what it did.
struct ReportLimit {
  std::string name;    // "api/search"
  std::string key;     // "client_ip"; empty when all requests share one key
  std::string quota;   // "100/m"; empty for an entry of a list
  std::string action;  // "limit", "deny", ...
  bool shadow = false;
  RunStatistics::LimitCounts counts{};
  std::uint64_t subjects_denied = 0;
};

struct ReportSubject {
  std::string limit;
  std::string subject;  // redacted if asked for; empty: all requests
  std::uint64_t denied = 0;
  Instant first{};
  Instant last{};
  Duration longest{};
};

// Denials under one set of rules that the other one does not have.
struct ReportDifference {
  struct Limit {
    std::string name;
    std::uint64_t denied = 0;
    std::uint64_t subjects = 0;
  };
  struct Side {
    std::uint64_t requests = 0;
    std::vector<Limit> limits{};
    std::vector<ReportSubject> subjects{};
  };
  std::uint64_t denied_before = 0;
  Side newly_denied{};
  Side no_longer_denied{};
};

struct ReportSuggestion {
  std::string name;
  std::string key;
  std::string quota;  // the present one
  Duration period{};
  std::uint64_t subjects = 0;
  std::uint64_t above_present = 0;  // subjects whose peak is above the present limit
  bool is_incomplete = false;
  std::vector<Suggestion> limits{};
};

// The results of a replay, as plain values in the order in which they are shown.
struct Report {
  struct Log {
    std::string name;
    std::string format;
  };
  std::vector<Log> logs{};
  std::string domain{};
  LineCounts lines{};
  std::vector<BadLine> bad_lines{};
  RunStatistics::Totals totals{};
  std::vector<ReportLimit> limits{};
  std::vector<ReportSubject> subjects{};  // most denied first
  std::uint64_t subjects_denied = 0;
  std::uint64_t denials_not_listed = 0;
  DeniedSpans spans{};
  Timeline timeline{};
  std::optional<ReportDifference> difference{};
  std::optional<std::vector<ReportSuggestion>> suggestions{};
  std::vector<std::string> warnings{};
};

struct ReportOptions {
  std::size_t top = 10;                // subjects in each list
  const Redactor* redactor = nullptr;  // null: subjects are shown
};

// REQUIRES: the replay has run.
[[nodiscard]] Report make_report(const Replay& replay, const std::vector<std::string>& logs,
                                 const ReportOptions& options);

// The report as text for a terminal, as JSON, and as a page of HTML that loads nothing.
[[nodiscard]] std::string text_report(const Report& report);
[[nodiscard]] std::string json_report(const Report& report);
[[nodiscard]] std::string html_report(const Report& report);

}  // namespace penstock::replay
