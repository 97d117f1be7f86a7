#include "redis_store/batch/cross_slot_check.hpp"

#include "base/monotonic_time.hpp"
#include "redis/hash_slot.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::redis_store {
namespace {

// The decision of a limit until its slot has answered: full capacity.
std::vector<Decision> unknown_decisions(const std::vector<CrossSlotCheck::Step>& steps) {
  std::size_t checks = 0;
  for (const CrossSlotCheck::Step& step : steps) checks += step.positions.size();
  std::vector<Decision> decisions(checks);
  for (const CrossSlotCheck::Step& step : steps) {
    for (std::size_t i = 0; i < step.positions.size(); ++i) {
      const std::uint32_t capacity = step.request.checks[i].quota.capacity();
      decisions[step.positions[i]] = Decision::allow(capacity, capacity, Duration{0});
    }
  }
  return decisions;
}

bool is_passed(const std::vector<Decision>& decisions) {
  return std::all_of(decisions.begin(), decisions.end(),
                     [](const Decision& decision) { return decision.allowed(); });
}

}  // namespace

std::vector<CrossSlotCheck::Step> CrossSlotCheck::steps_of(const CheckRequest& request) {
  std::map<std::uint16_t, Step> by_slot;
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    Step& step = by_slot[redis::hash_slot(request.checks[i].key)];
    step.request.checks.push_back(request.checks[i]);
    step.positions.push_back(i);
  }
  std::vector<Step> steps;
  steps.reserve(by_slot.size());
  for (auto& [slot, step] : by_slot) steps.push_back(std::move(step));
  return steps;
}

CrossSlotCheck::CrossSlotCheck(Dependencies dependencies, std::vector<Step> steps,
                               base::Deadline deadline, Decided decided)
    : dependencies_(std::move(dependencies)),
      steps_(std::move(steps)),
      deadline_(deadline),
      decided_(std::move(decided)),
      decisions_(unknown_decisions(steps_)),
      timer_(dependencies_.executor) {}

void CrossSlotCheck::charge(std::size_t step) {
  dependencies_.ask(
      steps_[step].request, Plan::Kind::Take, deadline_,
      [self = shared_from_this(), step](const auto& said) { self->on_charged(step, said); });
}

void CrossSlotCheck::on_charged(std::size_t step, const Result<std::vector<Decision>>& said) {
  if (!said) {
    failure_ = said.error();
    return turn_back(step);
  }
  note(step, *said);
  if (!is_passed(*said)) {
    is_denied_ = true;
    return turn_back(step);
  }
  if (step + 1 < steps_.size()) return charge(step + 1);
  std::exchange(decided_, nullptr)(std::move(decisions_));
}

void CrossSlotCheck::turn_back(std::size_t failed) {
  open_ = 1;
  for (std::size_t step = 0; step < failed; ++step) refund(step);
  const bool has_time = base::monotonic_now() < deadline_;
  for (std::size_t step = failed + 1; has_time && step < steps_.size(); ++step) peek(step);
  close_one();
  if (!decided_) return;
  if (has_time) {
    answer_by_deadline();
  } else {
    answer();
  }
}

void CrossSlotCheck::refund(std::size_t step) {
  ++open_;
  dependencies_.ask(steps_[step].request, Plan::Kind::Refund, base::deadline_after(kRefundTimeout),
                    [self = shared_from_this(), step](const Result<std::vector<Decision>>& said) {
                      if (said) self->note(step, *said);
                      if (said || !was_not_executed(said.error())) {
                        std::vector<std::string> keys;
                        for (const KeyCheck& check : self->steps_[step].request.checks) {
                          keys.push_back(check.key);
                        }
                        self->dependencies_.on_refunded(keys);
                      }
                      self->close_one();
                    });
}

void CrossSlotCheck::peek(std::size_t step) {
  ++open_;
  dependencies_.ask(steps_[step].request, Plan::Kind::AlreadyDenied, deadline_,
                    [self = shared_from_this(), step](const Result<std::vector<Decision>>& said) {
                      if (said) self->note(step, *said);
                      if (said && !is_passed(*said)) self->is_denied_ = true;
                      self->close_one();
                    });
}

void CrossSlotCheck::note(std::size_t step, const std::vector<Decision>& said) {
  if (!decided_) return;
  for (std::size_t i = 0; i < said.size(); ++i) {
    decisions_[steps_[step].positions[i]] = said[i];
  }
}

void CrossSlotCheck::close_one() {
  if (--open_ == 0) answer();
}

void CrossSlotCheck::answer() {
  if (!decided_) return;
  timer_.cancel();
  const Decided decided = std::exchange(decided_, nullptr);
  if (is_denied_) {
    decided(std::move(decisions_));
  } else {
    decided(*failure_);
  }
}

void CrossSlotCheck::answer_by_deadline() {
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->answer();
  });
}

}  // namespace penstock::redis_store
