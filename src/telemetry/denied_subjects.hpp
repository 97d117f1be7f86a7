#pragma once

#include "base/text_hash.hpp"
#include "penstock/time.hpp"
#include "telemetry/distinct_sketch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::telemetry {

// A subject that a limit denies.
struct DeniedSubject {
  std::string key{};  // "rule subject", as in HotKeys
  Instant first{};    // since when, without a pause of DeniedSubjects::kPause
  Instant last{};
  std::uint64_t count = 0;  // since `first`

  friend bool operator==(const DeniedSubject&, const DeniedSubject&) = default;
};

// The subjects that a limit denied within about a minute.
struct DeniedOfRule {
  std::string rule{};
  DistinctSketch subjects{};
};

struct DeniedSnapshot {
  std::vector<DeniedSubject> subjects{};  // unordered
  std::vector<DeniedOfRule> rules{};
};

// Joins those of several workers or nodes; the newest first.
[[nodiscard]] std::vector<DeniedSubject> merge_denied(const std::vector<DeniedSnapshot>& snapshots);

// The subjects that one worker denied recently, and an estimate of their number per rule. It is
// used by denials only.
//
// Bounds: kMaxSubjects keys, of which a new one replaces one that was not denied for longest, and
// kMaxRules sketches; in all less than kMaxBytes.
// Thread-safety: none.
class DeniedSubjects {
 public:
  static constexpr std::size_t kMaxSubjects = 512;
  static constexpr std::size_t kMaxRules = 200;
  static constexpr std::size_t kMaxKeyBytes = 200;
  static constexpr std::size_t kMaxBytes =
      kMaxSubjects * (sizeof(DeniedSubject) + kMaxKeyBytes + 64) +
      kMaxRules * (2 * DistinctSketch::kRegisters + 8 + kMaxKeyBytes + 64);
  // A subject that was not denied for this long and is denied again is newly denied.
  static constexpr std::chrono::seconds kPause{60};

  DeniedSubjects();

  // For every denial.
  void add_subject(std::string_view rule, std::string_view subject);
  // For a sample of them; each stands for `times`.
  void add(std::string_view key, std::uint64_t times);

  // Once a second. Times are those of the last tick.
  void tick(Instant now);
  // Whether there was a denial since the last snapshot, or one expired.
  [[nodiscard]] bool has_changed() const noexcept { return has_changed_; }
  [[nodiscard]] DeniedSnapshot snapshot();
  [[nodiscard]] std::size_t bytes() const;

 private:
  // The estimate is of this half minute and the one before it.
  struct RuleSketch {
    DistinctSketch now{};
    DistinctSketch before{};
    bool is_used = false;  // in this half minute
  };
  [[nodiscard]] std::size_t slot_to_replace();
  void rotate();

  Instant now_{};
  unsigned ticks_ = 0;
  bool has_changed_ = false;
  std::vector<DeniedSubject> subjects_;  // never grows beyond its capacity: index_ points into it
  std::unordered_map<std::string_view, std::size_t, base::TextHash> index_;
  std::size_t hand_ = 0;  // of the search for one to replace
  base::TextMap<RuleSketch> rules_;
};

}  // namespace penstock::telemetry
