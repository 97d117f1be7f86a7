#pragma once

#include "service/local_share.hpp"
#include "store/lease_source.hpp"
#include "store/store.hpp"

#include <cstddef>
#include <cstdint>

namespace penstock::service {

// Tells the shared store, when it answers again, what this node admitted without it: as much of it
// as the limit has left is taken. Each event loop has one.
//
// Each debt is told at most once. Only when the store certainly did not hear it, it goes back into
// the ledger; when nobody knows, it counts as lost.
//
// Thread-safety: none; everything happens on one event loop.
class DebtReporter {
 public:
  // So many at once, so that requests find room beside them, and so many until the next tick.
  static constexpr std::size_t kAtOnce = 64;
  static constexpr std::size_t kPerTick = 4096;

  // Without a source of leases, the store is asked for the whole debt, and for what is left when
  // that does not fit. REQUIRES: all of them outlive every answer of the store.
  DebtReporter(store::Store& store, store::LeaseSource* leases, LocalShare& local) noexcept
      : store_(store), leases_(leases), local_(local) {}
  DebtReporter(const DebtReporter&) = delete;
  DebtReporter& operator=(const DebtReporter&) = delete;

  // To be called about once a second.
  void tick();

 private:
  using Debt = OutageLedger::Entry;

  void send_more();
  void take_up_to(std::vector<Debt> debts);
  void take(Debt debt, unsigned attempts_left);
  void on_failure(const Debt& debt, const Error& error);
  void close_one();

  store::Store& store_;
  store::LeaseSource* leases_;
  LocalShare& local_;
  std::size_t left_ = 0;       // of this tick
  std::size_t under_way_ = 0;  // and one for send_more() itself
};

}  // namespace penstock::service
