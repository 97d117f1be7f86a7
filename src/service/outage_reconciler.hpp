#pragma once

#include "base/join.hpp"
#include "service/local_fallback.hpp"
#include "store/lease_source.hpp"
#include "store/stores.hpp"

#include <cstddef>
#include <cstdint>

namespace penstock::service {

// Reports to the shared store, when it is available again, the units that this node admitted
// without it. The store charges as many as fit. Each event loop has one.
//
// Units are reported at most once: a call that was certainly not executed goes back into the
// ledger, one that may have been executed counts as lost.
//
// Thread-safety: none; everything happens on one event loop.
class OutageReconciler {
 public:
  // Bounds calls in flight, so that requests find room, and names per tick.
  static constexpr std::size_t kMaxInFlight = 64;
  static constexpr std::size_t kPerTick = 4096;

  // Without a source of leases, charges all units, then those that are left when they do not fit.
  // REQUIRES: all arguments outlive every answer of the store.
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

  store::LimitStore& store_;
  store::LeaseSource* leases_;
  LocalFallback& local_;
  std::size_t left_ = 0;  // of this tick
  base::Join in_flight_{[this] { send_more(); }};
};

}  // namespace penstock::service
