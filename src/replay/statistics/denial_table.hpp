#pragma once

#include "base/text_hash.hpp"
#include "penstock/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::replay {

// Times in which a subject is denied again and again: from the first denial to the last, with no
// pause longer than the period of the limit between two of them.
struct DeniedSpans {
  // Upper bounds of the classes; the last class has none.
  static constexpr std::array<Duration, 6> kBounds{
      std::chrono::seconds{1},  std::chrono::seconds{10}, std::chrono::minutes{1},
      std::chrono::minutes{10}, std::chrono::hours{1},    Days{1}};

  std::array<std::uint64_t, kBounds.size() + 1> counts{};  // spans up to each bound
  std::uint64_t spans = 0;
  Duration longest{};

  void add(Duration length) noexcept;
};

// Subjects that were denied, each under one limit.
//
// Memory is bounded: denials of further subjects are counted, but not by subject. About 200 bytes
// per subject that was denied; none for others. Of a long subject, its start and a hash are kept.
//
// Thread-safety: none.
class DenialTable {
 public:
  static constexpr std::size_t kMaxSubjects = 1'000'000;
  static constexpr std::size_t kMaxSubjectBytes = 256;

  struct Subject {
    std::uint32_t limit = 0;
    std::string_view text{};  // owned by the table
    std::uint64_t denied = 0;
    Instant first{};
    Instant last{};
    Duration longest{};  // of its spans
  };

  explicit DenialTable(std::size_t limits, std::size_t max_subjects = kMaxSubjects)
      : max_subjects_(max_subjects), denied_(limits), subjects_(limits) {}

  // `pause` is the longest within a span. REQUIRES: times never step back.
  void deny(std::uint32_t limit, std::string_view subject, Instant time, Duration pause);
  // Ends all spans. REQUIRES: no denial follows.
  void finish();

  // Most denied first; the same order for the same log.
  [[nodiscard]] std::vector<Subject> top(std::size_t most) const;
  [[nodiscard]] std::uint64_t denied_by(std::size_t limit) const { return denied_[limit]; }
  [[nodiscard]] std::uint64_t subjects_of(std::size_t limit) const { return subjects_[limit]; }
  [[nodiscard]] std::size_t subjects() const noexcept { return entries_.size(); }
  // Denials of subjects beyond the bound.
  [[nodiscard]] std::uint64_t not_listed() const noexcept { return not_listed_; }
  [[nodiscard]] const DeniedSpans& spans() const noexcept { return spans_; }

 private:
  struct Entry {
    std::uint32_t limit = 0;
    std::uint64_t denied = 0;
    Instant first{};
    Instant last{};
    Instant since{};  // the start of its last span
    Duration longest{};
  };
  [[nodiscard]] std::string_view key_of(std::uint32_t limit, std::string_view subject);
  void close(Entry& entry);

  const std::size_t max_subjects_;
  base::TextMap<Entry> entries_;  // by the number of the limit, in 4 bytes, and the subject
  std::vector<std::uint64_t> denied_;
  std::vector<std::uint64_t> subjects_;
  std::uint64_t not_listed_ = 0;
  DeniedSpans spans_;
  std::string key_;  // of the last call
};

}  // namespace penstock::replay
