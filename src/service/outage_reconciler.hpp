#pragma once

#include "service/local_fallback.hpp"
#include "store/lease_source.hpp"
#include "store/limit_store.hpp"

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
class OutageReconciler {
 public:
  // So many at once, so that requests find room beside them, and so many until the next tick.
  static constexpr std::size_t kMaxInFlight = 64;
  static constexpr std::size_t kPerTick = 4096;

  // Without a source of leases, the store is asked for the whole debt, and for what is left when
  // that does not fit. REQUIRES: all of them outlive every answer of the store.
  OutageReconciler(store::LimitStore& store, store::LeaseSource* leases,
                   LocalFallback& local) noexcept
      : store_(store), leases_(leases), local_(local) {}
  OutageReconciler(const OutageReconciler&) = delete;
  OutageReconciler& operator=(const OutageReconciler&) = delete;

  // To be called about once a second. Reports nothing while the store is unavailable.
  void tick(bool store_serves);

 private:
  using Entry = OutageLedger::Entry;

  void send_more();
  void charge_by_lease(std::vector<Entry> entries);
  void charge(Entry entry, unsigned attempts_left);
  void on_failure(const Entry& entry, const Error& error);
  void finish_one();

  store::LimitStore& store_;
  store::LeaseSource* leases_;
  LocalFallback& local_;
  std::size_t left_ = 0;       // of this tick
  std::size_t in_flight_ = 0;  // and one for send_more() itself
};

}  // namespace penstock::service
