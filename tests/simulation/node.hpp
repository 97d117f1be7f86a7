#pragma once

#include "lease/denial_cache.hpp"
#include "lease/hotness.hpp"
#include "lease/lease_table.hpp"
#include "simulation/defect.hpp"
#include "simulation/node_context.hpp"
#include "simulation/scenario.hpp"

#include <memory>

namespace penstock::simulation {

// A request that must be answered exactly once.
class Request final : public lease::Waiter {
 public:
  Request(NodeContext& world, Cost cost) : world_(world), cost_(cost) {}

  void on_answer(const Result<Decision>& answer, const TakenUnits& taken) override;
  // Answered by the store, where admitted units are already counted.
  void on_shared_answer() { ++answers_; }

  [[nodiscard]] Cost cost() const noexcept { return cost_; }
  [[nodiscard]] int answers() const noexcept { return answers_; }
  void forget() noexcept { is_forgotten_ = true; }
  [[nodiscard]] bool is_forgotten() const noexcept { return is_forgotten_; }

 private:
  NodeContext& world_;
  Cost cost_;
  int answers_ = 0;
  bool is_forgotten_ = false;  // its node crashed
};

// One lease holder: the production lease table, denial cache and hotness, combined as in
// LeasingStore for requests with one limit, with its own clock.
class Node : public std::enable_shared_from_this<Node> {
 public:
  Node(NodeContext& world, const Scenario& scenario, Defect defect)
      : world_(world),
        scenario_(scenario),
        defect_(defect),
        table_(lease::LeaseTable::kDefaultSize, scenario.waste) {}

  void check(Request& request);
  void forget(bool is_revoked);
  // Returns leases and answers all waiters; must not be used afterwards.
  void shutdown();
  [[nodiscard]] std::uint32_t in_hand();

 private:
  [[nodiscard]] base::Deadline now() const { return world_.clock_of(*this); }
  [[nodiscard]] core::NamedCheck named(Cost cost) const;
  [[nodiscard]] bool is_leasing() const;
  [[nodiscard]] std::optional<Decision> certain_denial(Cost cost) const;
  [[nodiscard]] lease::KeyLease* lease_for(Cost cost);
  void decide(Request& request);
  void ask_store(Request& request);
  void ask_soon();
  void post_asking();
  void watch();
  void wake_at(base::Deadline at);
  void ask_for_lease();
  void send(store::LeaseRequest ask);
  void on_grant(const Result<store::LeaseGrant>& grant);
  // Defects of a node.
  void refund_what_ended();
  void check_in_hand();
  [[nodiscard]] store::LeaseGrant as_received(store::LeaseGrant grant, base::Deadline asked) const;

  NodeContext& world_;
  const Scenario& scenario_;
  Defect defect_;
  lease::LeaseTable table_;
  lease::DenialCache denials_;
  lease::Hotness hotness_;
  std::uint64_t changes_ = 0;
  bool is_posted_ = false;
  std::uint32_t seen_in_hand_ = 0;
  Cost denied_{1};
};

}  // namespace penstock::simulation
