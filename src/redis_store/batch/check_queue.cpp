#include "redis_store/batch/check_queue.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/batch/bucket_scripts.hpp"

#include <algorithm>

namespace penstock::redis_store {
namespace {

constexpr std::chrono::milliseconds kDeadlineStep{4};

bool is_for_buckets(const KeyQueue& queue) {
  const WaitingCheck& first = queue.asked.front();
  if (!is_for_bucket_scripts(first.quota, first.cost)) return false;
  return std::all_of(queue.asked.begin(), queue.asked.end(), [&](const WaitingCheck& check) {
    return check.quota == first.quota && check.cost == first.cost;
  });
}

// The properties that the keys of one batch share.
struct BatchLabel {
  CallKind kind{};
  QuotaIdentity quota{};  // of buckets; for others only the algorithm
  std::uint64_t cost = 0;
  std::uint16_t slot = 0;
  std::int64_t deadline_step = 0;

  friend bool operator==(const BatchLabel&, const BatchLabel&) = default;
};

BatchLabel label_of(const KeyQueue& queue, CheckQueue::Spread spread) {
  const WaitingCheck& first = queue.asked.front();
  BatchLabel label;
  label.deadline_step = deadline_step(first.deadline, kDeadlineStep);
  if (spread == CheckQueue::Spread::BySlot) label.slot = queue.slot;
  if (is_for_buckets(queue)) {
    label.kind = CallKind::Buckets;
    label.quota = first.quota.identity();
    label.cost = first.cost.units;
  } else {
    label.kind = CallKind::Decide;
    label.quota.shape = static_cast<std::uint64_t>(first.quota.algorithm());
  }
  return label;
}

}  // namespace

void CheckQueue::add(std::string key, const WaitingCheck& check) {
  ++waiting_;
  const auto found = queues_.find(key);
  if (found != queues_.end()) {
    KeyQueue& queue = *found->second;
    if (queue.waiting.empty() && queue.asked.empty()) ready_.push_back(&queue);
    queue.waiting.push_back(check);
    if (!queue.asked.empty() && ends_before(check.deadline, queue.call_ends)) {
      watch(queue, check.deadline);
    }
    return;
  }
  auto queue = std::make_unique<KeyQueue>();
  queue->key = std::move(key);
  queue->slot = redis::hash_slot(queue->key);
  queue->waiting.push_back(check);
  ready_.push_back(queue.get());
  const std::string_view name = queue->key;
  queues_.emplace(name, std::move(queue));
}

void CheckQueue::drop_late(KeyQueue& queue, base::Deadline now) {
  const auto late =
      std::stable_partition(queue.waiting.begin(), queue.waiting.end(),
                            [&](const WaitingCheck& check) { return check.deadline > now; });
  std::vector<WaitingCheck> dropped(late, queue.waiting.end());
  queue.waiting.erase(late, queue.waiting.end());
  waiting_ -= dropped.size();
  for (WaitingCheck& check : dropped) check.answer(deadline_passed());
}

std::vector<CheckBatch> CheckQueue::take(Spread spread, base::Deadline now) {
  std::vector<CheckBatch> batches;
  std::vector<BatchLabel> labels;
  std::vector<KeyQueue*> ready;
  ready.swap(ready_);
  for (KeyQueue* queue : ready) {
    drop_late(*queue, now);
    if (queue->waiting.empty()) {
      forget(*queue);
      continue;
    }
    queue->asked.swap(queue->waiting);
    const BatchLabel label = label_of(*queue, spread);
    // the newest first: most checks resemble the previous one
    auto known = std::find(labels.rbegin(), labels.rend(), label);
    if (known == labels.rend() ||
        batches[static_cast<std::size_t>(labels.rend() - known) - 1].keys.size() >= kMaxKeys) {
      labels.push_back(label);
      batches.push_back(
          {.kind = label.kind, .keys = {}, .deadline = queue->asked.front().deadline});
      known = labels.rbegin();
    }
    CheckBatch& batch = batches[static_cast<std::size_t>(labels.rend() - known) - 1];
    batch.keys.push_back(queue);
    for (const WaitingCheck& check : queue->asked) {
      batch.deadline = std::max(batch.deadline, check.deadline);
    }
  }
  for (const CheckBatch& batch : batches) {
    for (KeyQueue* const queue : batch.keys) {
      queue->call_ends = batch.deadline;
      watch_all(*queue);
    }
  }
  return batches;
}

void CheckQueue::watch(KeyQueue& queue, base::Deadline until) {
  if (until >= queue.watched) return;
  stop_watching(queue);
  queue.watched = until;
  watched_.emplace(until, &queue);
}

void CheckQueue::stop_watching(KeyQueue& queue) {
  if (queue.watched == base::Deadline::max()) return;
  watched_.erase({queue.watched, &queue});
  queue.watched = base::Deadline::max();
}

void CheckQueue::watch_all(KeyQueue& queue) {
  stop_watching(queue);
  base::Deadline earliest = queue.call_ends;
  for (const WaitingCheck& check : queue.asked) {
    if (check.handler != nullptr) earliest = std::min(earliest, check.deadline);
  }
  for (const WaitingCheck& check : queue.waiting) earliest = std::min(earliest, check.deadline);
  if (ends_before(earliest, queue.call_ends)) watch(queue, earliest);
}

void CheckQueue::expire(base::Deadline now) {
  static const Error late_error{ErrorCode::Timeout, "no reply before the deadline"};
  while (!watched_.empty() && watched_.begin()->first <= now) {
    KeyQueue& queue = *watched_.begin()->second;
    for (WaitingCheck& check : queue.asked) {
      if (check.deadline <= now) check.answer(late_error);
    }
    drop_late(queue, now);
    watch_all(queue);
  }
}

void CheckQueue::forget(KeyQueue& queue) {
  stop_watching(queue);
  queues_.erase(queue.key);
}

void CheckQueue::finish(KeyQueue& queue) {
  waiting_ -= queue.asked.size();
  queue.asked.clear();
  stop_watching(queue);
  if (queue.waiting.empty()) {
    forget(queue);
  } else {
    ready_.push_back(&queue);
  }
}

void CheckQueue::fail_all(const Error& error) {
  ready_.clear();
  watched_.clear();
  waiting_ = 0;
  const auto queues = std::move(queues_);
  queues_.clear();
  for (const auto& [key, queue] : queues) {
    for (WaitingCheck& check : queue->asked) check.answer(error);
    for (WaitingCheck& check : queue->waiting) check.answer(error);
  }
}

}  // namespace penstock::redis_store
