#include "redis_store/batch/multi_check_queue.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/batch/bucket_scripts.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace penstock::redis_store {
namespace {

// One limit of a request, without its key.
struct Term {
  QuotaIdentity quota{};
  std::uint64_t cost = 0;

  friend bool operator==(const Term&, const Term&) = default;
};

// The properties that the requests of one batch share.
struct RequestLabel {
  CallKind kind{};
  std::vector<Term> terms{};             // of buckets
  std::optional<Algorithm> algorithm{};  // of others, if all the same: its script is shorter
  std::uint16_t slot = 0;
  std::int64_t deadline_step = 0;

  friend bool operator==(const RequestLabel&, const RequestLabel&) = default;
};

bool is_for_buckets(const MultiCheckRequest& request) {
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const KeyCheck& check = request.checks[i];
    if (!is_for_bucket_scripts(check.quota, check.cost)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (request.checks[j].key == check.key) return false;
    }
  }
  return true;
}

std::optional<Algorithm> algorithm_of(const MultiCheckRequest& request) {
  const Algorithm first = request.checks.front().quota.algorithm();
  const bool is_one =
      std::all_of(request.checks.begin(), request.checks.end(),
                  [&](const KeyCheck& check) { return check.quota.algorithm() == first; });
  return is_one ? std::optional(first) : std::nullopt;
}

RequestLabel label_of(const WaitingRequest& waiting, CheckQueue::Spread spread) {
  const MultiCheckRequest& request = waiting.request;
  RequestLabel label;
  label.deadline_step = deadline_step(waiting.deadline, base::kDeadlineResolution);
  if (spread == CheckQueue::Spread::BySlot) {
    label.slot = redis::hash_slot(request.checks.front().key);
  }
  if (!is_for_buckets(request)) {
    label.kind = CallKind::Decide;
    label.algorithm = algorithm_of(request);
    return label;
  }
  label.kind = CallKind::Buckets;
  label.terms.reserve(request.checks.size());
  for (const KeyCheck& check : request.checks) {
    label.terms.push_back({.quota = check.quota.identity(), .cost = check.cost.units});
  }
  return label;
}

// A batch with room for more requests.
struct OpenBatch {
  RequestLabel label;
  std::size_t place = 0;  // in the batches
  std::size_t checks = 0;
};

}  // namespace

std::vector<MultiCheckBatch> MultiCheckQueue::take(CheckQueue::Spread spread, base::Deadline now) {
  std::vector<MultiCheckBatch> batches;
  std::vector<OpenBatch> open;
  for (WaitingRequest& waiting : std::exchange(waiting_, {})) {
    if (waiting.deadline <= now) {
      waiting.decided(deadline_passed());
      continue;
    }
    RequestLabel label = label_of(waiting, spread);
    const std::size_t most = label.kind == CallKind::Buckets ? kMaxBuckets : kMaxOthers;
    const std::size_t checks = waiting.request.checks.size();
    // the newest first: most requests resemble the previous one
    auto known = std::find_if(open.rbegin(), open.rend(), [&](const OpenBatch& each) {
      return each.checks + checks <= most && each.label == label;
    });
    if (known == open.rend()) {
      batches.push_back({.kind = label.kind, .slot = label.slot, .deadline = waiting.deadline});
      open.push_back({.label = std::move(label), .place = batches.size() - 1});
      known = open.rbegin();
    }
    known->checks += checks;
    MultiCheckBatch& batch = batches[known->place];
    batch.deadline = std::max(batch.deadline, waiting.deadline);
    batch.requests.push_back(std::move(waiting));
  }
  return batches;
}

void MultiCheckQueue::fail_all(const Error& error) {
  for (const WaitingRequest& waiting : std::exchange(waiting_, {})) waiting.decided(error);
}

}  // namespace penstock::redis_store
