#include "telemetry/denied_subjects.hpp"

#include <algorithm>
#include <map>

namespace penstock::telemetry {
namespace {

constexpr unsigned kTicksPerSketch = 30;
// How many are looked at for one to replace.
constexpr std::size_t kProbes = 8;

}  // namespace

std::vector<DeniedSubject> merge_denied(const std::vector<DeniedSnapshot>& snapshots) {
  std::map<std::string_view, DeniedSubject> merged;
  for (const DeniedSnapshot& snapshot : snapshots) {
    for (const DeniedSubject& each : snapshot.subjects) {
      const auto [found, is_new] = merged.try_emplace(each.key, each);
      if (is_new) continue;
      DeniedSubject& sum = found->second;
      sum.first = std::min(sum.first, each.first);
      sum.last = std::max(sum.last, each.last);
      sum.count += each.count;
    }
  }
  std::vector<DeniedSubject> list;
  list.reserve(merged.size());
  for (auto& [key, subject] : merged) list.push_back(std::move(subject));
  std::stable_sort(list.begin(), list.end(), [](const DeniedSubject& a, const DeniedSubject& b) {
    return a.first != b.first ? a.first > b.first : a.count > b.count;
  });
  return list;
}

DeniedSubjects::DeniedSubjects() {
  subjects_.reserve(kMaxSubjects);
  index_.reserve(kMaxSubjects);
}

void DeniedSubjects::add_subject(std::string_view rule, std::string_view subject) {
  auto known = rules_.find(rule);
  if (known == rules_.end()) {
    if (rules_.size() >= kMaxRules) return;
    known = rules_.emplace(rule.substr(0, kMaxKeyBytes), RuleSketch{}).first;
  }
  known->second.now.add(subject);
  known->second.is_used = true;
}

void DeniedSubjects::add(std::string_view key, std::uint64_t times) {
  has_changed_ = true;
  if (const auto known = index_.find(key); known != index_.end()) {
    DeniedSubject& subject = subjects_[known->second];
    if (now_ - subject.last > kPause) {
      subject.first = now_;
      subject.count = 0;
    }
    subject.last = now_;
    subject.count += times;
    return;
  }
  const std::size_t slot = slot_to_replace();
  subjects_[slot].key = key;
  subjects_[slot].first = subjects_[slot].last = now_;
  subjects_[slot].count = times;
  index_.emplace(subjects_[slot].key, slot);
}

std::size_t DeniedSubjects::slot_to_replace() {
  if (subjects_.size() < kMaxSubjects) {
    subjects_.emplace_back();
    return subjects_.size() - 1;
  }
  std::size_t oldest = hand_;
  for (std::size_t i = 0; i < kProbes; ++i, hand_ = (hand_ + 1) % kMaxSubjects) {
    if (subjects_[hand_].last < subjects_[oldest].last) oldest = hand_;
  }
  index_.erase(subjects_[oldest].key);
  return oldest;
}

void DeniedSubjects::tick(Instant now) {
  now_ = now;
  if (++ticks_ % kTicksPerSketch == 0) rotate();
}

void DeniedSubjects::rotate() {
  if (!rules_.empty()) has_changed_ = true;
  for (auto rule = rules_.begin(); rule != rules_.end();) {
    RuleSketch& sketch = rule->second;
    if (!sketch.is_used) {
      rule = rules_.erase(rule);
      continue;
    }
    sketch.before = sketch.now;
    sketch.now.clear();
    sketch.is_used = false;
    ++rule;
  }
}

DeniedSnapshot DeniedSubjects::snapshot() {
  has_changed_ = false;
  DeniedSnapshot snapshot{.subjects = subjects_};
  for (const auto& [rule, sketch] : rules_) {
    DeniedOfRule& added = snapshot.rules.emplace_back(DeniedOfRule{.rule = rule});
    added.subjects = sketch.now;
    added.subjects.merge(sketch.before);
  }
  return snapshot;
}

std::size_t DeniedSubjects::bytes() const {
  // 64: a node of a hash table
  std::size_t bytes = rules_.size() * (sizeof(RuleSketch) + 64) + index_.size() * 64;
  for (const auto& [rule, sketch] : rules_) bytes += rule.size();
  for (const DeniedSubject& subject : subjects_) bytes += sizeof subject + subject.key.size();
  return bytes;
}

}  // namespace penstock::telemetry
