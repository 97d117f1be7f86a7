#pragma once

#include "lease/leasing_store.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace penstock::lease {

// One request with limits that are decided in different places. All pass, or nothing is charged:
// leased limits are charged first, then those of this node, then the shared store decides the rest;
// when a limit denies, charges made before are undone.
//
// Lifetime: owns itself until it has answered, which it does once.
class LeasedRequest final : public Waiter {
 public:
  using Answered = store::Answered<store::Decisions>;

  using Decider = LeasingStore::Decider;

  // The checks, and the decider of each.
  struct Limits {
    std::vector<core::NamedCheck> checks;
    std::vector<store::Hash128> hashes;
    std::vector<Decider> deciders;
  };
  // REQUIRES: the store outlives it.
  static void start(LeasingStore& store, Limits limits, base::Deadline deadline, Answered answered);

  void on_answer(const Result<Decision>& answer, const Waiter::TakenUnits& taken) override;

 private:
  LeasedRequest(LeasingStore& store, Limits limits, base::Deadline deadline, Answered answered);

  void take_leased();
  // Whether the limit at next_ is the last one to decide.
  [[nodiscard]] bool is_last() const;
  // Returns whether to continue with the next limit.
  bool on_decision(const Result<Decision>& answer);
  void take_local();
  void ask_shared();
  void return_units(base::Deadline now);
  // The decision of a limit, if it is known without a call.
  [[nodiscard]] std::optional<Decision> known(std::size_t i, base::Deadline now) const;
  // A limit has denied: collects the numbers of the others.
  void deny();
  void finish(Result<store::Decisions> result);
  [[nodiscard]] std::vector<core::NamedCheck> shared_checks(bool look) const;

  LeasingStore& store_;
  std::vector<core::NamedCheck> checks_;
  std::vector<store::Hash128> hashes_;
  std::vector<Decider> deciders_;
  base::Deadline deadline_;
  Answered answered_;
  store::Decisions decisions_;
  std::vector<bool> decided_;
  std::vector<KeyLease::TakenUnits> taken_;
  std::size_t next_ = 0;  // leased limits before this one are charged
  bool took_local_ = false;
};

}  // namespace penstock::lease
