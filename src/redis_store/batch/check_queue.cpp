#include "redis_store/batch/check_queue.hpp"

#include "redis/hash_slot.hpp"

#include <algorithm>

namespace penstock::redis_store {
namespace {

// Requests share a call when their deadlines are in the same step: one with a short deadline does
// not make others wait for a timer.
constexpr std::chrono::milliseconds kDeadlineStep{4};

// Of limits of different algorithms, in a label.
constexpr std::uint64_t kMixed = 0xff;

// Whether a request must be answered before its call ends.
bool ends_before(base::Deadline deadline, base::Deadline call_ends) {
  return deadline < call_ends - base::kDeadlineResolution;
}

bool is_single(const WaitingRequest& waiting) {
  return waiting.kind == Plan::Kind::Take && waiting.request.checks.size() == 1 &&
         waiting.request.guard.empty();
}

bool has_same_limits(const CheckRequest& a, const CheckRequest& b) {
  return std::equal(a.checks.begin(), a.checks.end(), b.checks.begin(), b.checks.end(),
                    [](const KeyCheck& one, const KeyCheck& other) {
                      return one.quota == other.quota && one.cost == other.cost;
                    });
}

bool is_for_buckets(const Lane& lane) {
  const WaitingRequest& first = lane.asked.front();
  const std::vector<KeyCheck>& checks = first.request.checks;
  if (first.kind != Plan::Kind::Take || !first.request.guard.empty()) return false;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (!is_for_bucket_scripts(checks[i].quota, checks[i].cost)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (checks[j].key == checks[i].key) return false;
    }
  }
  return std::all_of(lane.asked.begin() + 1, lane.asked.end(), [&](const WaitingRequest& other) {
    return has_same_limits(other.request, first.request);
  });
}

std::uint64_t algorithm_of(const CheckRequest& request) {
  const Algorithm first = request.checks.front().quota.algorithm();
  const bool is_one =
      std::all_of(request.checks.begin() + 1, request.checks.end(),
                  [&](const KeyCheck& check) { return check.quota.algorithm() == first; });
  return is_one ? static_cast<std::uint64_t>(first) : kMixed;
}

// The properties that the lanes of one batch share. Lanes of buckets also have equal limits.
struct Label {
  CallKind kind{};
  bool is_shared = false;  // the lane; requests with several keys are numbered differently
  QuotaIdentity quota{};   // of the first limit; for others than buckets only the algorithm
  std::uint64_t cost = 0;
  std::uint16_t slot = 0;
  std::int64_t deadline_step = 0;

  friend bool operator==(const Label&, const Label&) = default;
};

Label label_of(const Lane& lane) {
  const WaitingRequest& first = lane.asked.front();
  Label label;
  label.deadline_step = first.deadline.time_since_epoch() / kDeadlineStep;
  label.slot = lane.slot;
  label.is_shared = !lane.key.empty();
  if (is_for_buckets(lane)) {
    label.kind = CallKind::Buckets;
    label.quota = first.request.checks.front().quota.identity();
    label.cost = first.request.checks.front().cost.units;
  } else {
    label.kind = CallKind::Decide;
    label.quota.shape = algorithm_of(first.request);
  }
  return label;
}

// Batches with room for more lanes.
class OpenBatches {
 public:
  void add(Lane& lane) {
    const Label label = label_of(lane);
    const CheckRequest& request = lane.asked.front().request;
    const std::size_t checks = request.checks.size();
    // the newest first: most requests resemble the previous one
    std::size_t at = open_.size();
    while (at > 0 && !open_[at - 1].fits(label, request)) --at;
    if (at == 0) {
      open_.push_back({.label = label, .first = &request});
      batches_.push_back({.kind = label.kind, .deadline = lane.asked.front().deadline});
      at = open_.size();
    }
    open_[at - 1].checks += checks;
    Batch& batch = batches_[at - 1];
    batch.lanes.push_back(&lane);
    for (const WaitingRequest& waiting : lane.asked) {
      batch.deadline = std::max(batch.deadline, waiting.deadline);
    }
  }

  [[nodiscard]] std::vector<Batch> take() { return std::move(batches_); }

 private:
  struct Open {
    Label label;
    const CheckRequest* first;
    std::size_t checks = 0;

    [[nodiscard]] bool fits(const Label& other, const CheckRequest& request) const {
      const bool is_bucket = label.kind == CallKind::Buckets;
      const std::size_t most =
          is_bucket || label.is_shared ? CheckQueue::kMaxChecks : CheckQueue::kMaxDecided;
      if (checks + request.checks.size() > most || !(label == other)) return false;
      return !is_bucket || has_same_limits(*first, request);
    }
  };

  std::vector<Open> open_;  // by the position of the batch
  std::vector<Batch> batches_;
};

}  // namespace

Lane& CheckQueue::lane_for(WaitingRequest& waiting) {
  std::string& key = waiting.request.checks.front().key;
  const bool is_shared = is_single(waiting);
  if (is_shared) {
    const auto found = shared_lanes_.find(key);
    if (found != shared_lanes_.end()) return *found->second;
  }
  Lane& lane = lanes_.emplace_back();
  lane.place = std::prev(lanes_.end());
  if (spread_ == Spread::BySlot) lane.slot = redis::hash_slot(key);
  if (is_shared) {
    lane.key = std::move(key);
    shared_lanes_.emplace(lane.key, &lane);
  }
  return lane;
}

void CheckQueue::make_ready(Lane& lane) {
  lane.is_ready = true;
  ready_.push_back(&lane);
}

void CheckQueue::add(WaitingRequest&& waiting) {
  if (closed_) return waiting.answer(*closed_);
  ++size_;
  Lane& lane = lane_for(waiting);
  if (!lane.is_ready && lane.asked.empty()) make_ready(lane);
  const base::Deadline deadline = waiting.deadline;
  lane.waiting.push_back(std::move(waiting));
  if (!lane.asked.empty() && ends_before(deadline, lane.call_ends)) watch(lane, deadline);
}

void CheckQueue::drop_late(Lane& lane, base::Deadline now) {
  const auto is_in_time = [&](const WaitingRequest& waiting) { return waiting.deadline > now; };
  if (std::all_of(lane.waiting.begin(), lane.waiting.end(), is_in_time)) return;
  const auto late = std::stable_partition(lane.waiting.begin(), lane.waiting.end(), is_in_time);
  std::vector<WaitingRequest> dropped(std::make_move_iterator(late),
                                      std::make_move_iterator(lane.waiting.end()));
  lane.waiting.erase(late, lane.waiting.end());
  size_ -= dropped.size();
  for (WaitingRequest& waiting : dropped) {
    waiting.answer(Error{ErrorCode::Unavailable, "the deadline passed before the check was sent"});
  }
}

std::vector<Batch> CheckQueue::take(base::Deadline now) {
  OpenBatches open;
  for (Lane* const lane : std::exchange(ready_, {})) {
    drop_late(*lane, now);
    if (closed_) return {};
    lane->is_ready = false;
    if (lane->waiting.empty()) {
      forget(*lane);
      continue;
    }
    lane->asked.swap(lane->waiting);
    open.add(*lane);
  }
  std::vector<Batch> batches = open.take();
  for (const Batch& batch : batches) {
    for (Lane* const lane : batch.lanes) {
      lane->call_ends = batch.deadline;
      watch_all(*lane);
    }
  }
  return batches;
}

void CheckQueue::watch(Lane& lane, base::Deadline until) {
  if (until >= lane.watched) return;
  stop_watching(lane);
  lane.watched = until;
  watched_.emplace(until, &lane);
}

void CheckQueue::stop_watching(Lane& lane) {
  if (lane.watched == base::Deadline::max()) return;
  watched_.erase({lane.watched, &lane});
  lane.watched = base::Deadline::max();
}

void CheckQueue::watch_all(Lane& lane) {
  stop_watching(lane);
  base::Deadline earliest = lane.call_ends;
  for (const WaitingRequest& waiting : lane.asked) {
    if (waiting.decided) earliest = std::min(earliest, waiting.deadline);
  }
  for (const WaitingRequest& waiting : lane.waiting) {
    earliest = std::min(earliest, waiting.deadline);
  }
  if (ends_before(earliest, lane.call_ends)) watch(lane, earliest);
}

void CheckQueue::expire(base::Deadline now) {
  static const Error late_error{ErrorCode::Timeout, "no reply before the deadline"};
  while (!watched_.empty() && watched_.begin()->first <= now) {
    Lane& lane = *watched_.begin()->second;
    for (WaitingRequest& waiting : lane.asked) {
      if (waiting.deadline <= now) waiting.answer(late_error);
    }
    drop_late(lane, now);
    if (closed_) return;
    watch_all(lane);
  }
}

void CheckQueue::forget(Lane& lane) {
  stop_watching(lane);
  if (!lane.key.empty()) shared_lanes_.erase(lane.key);
  lanes_.erase(lane.place);
}

void CheckQueue::finish(Lane& lane) {
  if (closed_) return;
  size_ -= lane.asked.size();
  lane.asked.clear();
  stop_watching(lane);
  if (lane.waiting.empty()) {
    forget(lane);
  } else {
    make_ready(lane);
  }
}

void CheckQueue::fail_all(const Error& error) {
  closed_ = error;
  ready_.clear();
  watched_.clear();
  size_ = 0;
  for (Lane& lane : lanes_) {
    for (WaitingRequest& waiting : lane.asked) waiting.answer(error);
    for (WaitingRequest& waiting : lane.waiting) waiting.answer(error);
  }
}

}  // namespace penstock::redis_store
