#pragma once

#include "http/client_address.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "replay/format/log_format.hpp"
#include "replay/input/byte_source.hpp"
#include "replay/input/line_reader.hpp"
#include "replay/run/log_attributes.hpp"
#include "replay/run/reorder_buffer.hpp"
#include "replay/run/virtual_service.hpp"
#include "replay/statistics/run_statistics.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::replay {

struct ReplayOptions {
  std::string domain{};
  std::optional<LogFormat> format{};  // empty: detected for each log
  std::vector<FieldMap::Entry> mapping{};
  rules::PathSettings paths{};
  http::TrustedProxies trusted{};
  // Lines may be this much out of order. Later ones are decided at the time of their predecessor.
  Duration window = std::chrono::seconds{10};
  // Of the requests that wait for earlier ones; then the earliest are decided at once.
  std::size_t max_waiting_bytes = std::size_t{256} << 20U;
  std::uint64_t max_keys = 50'000'000;
  RunStatistics::Peaks peaks = RunStatistics::Peaks::Skip;
};

// A line that is not a request, for the report. The reason is a constant.
struct BadLine {
  std::string file;
  std::uint64_t line = 0;
  std::string_view reason;
};

struct LineCounts {
  std::uint64_t lines = 0;
  std::uint64_t requests = 0;
  std::uint64_t malformed = 0;
  std::uint64_t other = 0;     // well-formed, but not a request
  std::uint64_t rejected = 0;  // the gateway answers 400, without a decision
  std::uint64_t late = 0;      // more out of order than the window
};

// Logs through a set of rules in virtual time, in the order of their times. With a second set of
// rules, each request is decided by both. One line with a time far in the future does not disturb
// the order of the others: it is malformed.
//
// Thread-safety: none.
class Replay {
 public:
  static constexpr std::size_t kShownBadLines = 5;

  using Rules = std::shared_ptr<const rules::Ruleset>;
  // `against` may be null.
  Replay(ReplayOptions options, Rules rules, Rules against);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Inflates gzip, detects the format. The name is for messages. An empty log is no error.
  [[nodiscard]] Result<void> add(std::string name, std::unique_ptr<ByteSource> source);
  // To the end of all logs. `on_progress` is called every few thousand lines.
  [[nodiscard]] Result<void> run(const std::function<void()>& on_progress = {});
  // Observes every decision of the first set of rules.
  using OnDecision =
      std::function<void(const RequestOrder&, const rules::Request&, const service::Answer&)>;
  void observe(OnDecision on_decision) { on_decision_ = std::move(on_decision); }

  [[nodiscard]] const ReplayOptions& options() const noexcept { return options_; }
  [[nodiscard]] const LineCounts& lines() const noexcept { return lines_; }
  [[nodiscard]] const std::vector<BadLine>& bad_lines() const noexcept { return bad_lines_; }
  [[nodiscard]] const RunStatistics& statistics() const noexcept { return statistics_; }
  [[nodiscard]] const RunStatistics* statistics_against() const noexcept {
    return against_ ? &against_->statistics : nullptr;
  }
  [[nodiscard]] const Difference* difference() const noexcept {
    return against_ ? &against_->difference : nullptr;
  }
  // The formats of the logs, in the order of add(); empty for an empty log.
  [[nodiscard]] std::vector<std::string> formats() const;
  // Rules that use an attribute which no request had: "api/search uses header.x-api-key, ...".
  [[nodiscard]] std::vector<std::string> warnings() const;
  [[nodiscard]] MemoryStats memory() const { return service_.stats(); }

 private:
  // A line with a time that the next line has to confirm: the first, and one that is more than a
  // day after those before it.
  struct HeldLine {
    std::string text;
    std::uint64_t number = 0;
    Instant time{};
  };
  struct Input {
    std::string name;
    LineReader reader;
    std::unique_ptr<LineParser> parser{};
    std::optional<LogFormat> format{};
    std::optional<Instant> latest{};  // the time of the last line
    std::optional<Instant> newest{};  // of all its lines
    std::optional<HeldLine> held{};
    bool is_at_end = false;
  };
  struct Against {
    Against(Rules rules, const RunStatistics& now, std::uint64_t max_keys);
    VirtualService service;
    RunStatistics statistics;
    Difference difference;
  };

  [[nodiscard]] LogAttributes::Settings attribute_settings() const;
  // Those that rules use; empty when they are not known.
  [[nodiscard]] std::optional<std::vector<std::string>> wanted_headers() const;
  // The log to read from: the one whose last line is the earliest; null at the end of all.
  [[nodiscard]] Input* next_input();
  // Some lines.
  [[nodiscard]] Result<void> read_from(Input& input);
  void read_line(Input& input, const LineReader::Line& line);
  // Whether the line in record_ waits for the next line; decides about the one that waits.
  [[nodiscard]] bool hold(Input& input, const LineReader::Line& line);
  void release_held(Input& input);
  void add_request(Input& input, std::uint64_t line, const LogRecord& record);
  void note_bad_line(const Input& input, std::uint64_t line, std::string_view reason);
  // Decides the requests that no unread line can precede.
  void decide_ready();
  void decide(const ReorderBuffer::Batch& batch);

  const ReplayOptions options_;
  VirtualService service_;
  RunStatistics statistics_;
  std::unique_ptr<Against> against_;
  LogAttributes attributes_;
  std::vector<std::unique_ptr<Input>> inputs_;
  LogRecord record_;
  ReorderBuffer waiting_;
  Instant decided_until_{};  // the time of the last decision
  rules::Request request_;
  LineCounts lines_{};
  std::vector<BadLine> bad_lines_;
  OnDecision on_decision_;
};

}  // namespace penstock::replay
