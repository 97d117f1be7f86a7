#pragma once

#include <cstdint>

namespace penstock::simulation {

// Mistakes that are easy to make with leases. The simulation injects them into its model of the
// store or around the production code, and must detect each.
enum class Defect : std::uint8_t {
  None,
  RefundAtExpiry,      // unspent units of a non-strict lease return to the bucket
  ReportBeforeRefill,  // reports are applied before the refill of the leased time
  FlooredTtl,          // keys expire up to a millisecond too early
  ShortEscrow,         // the escrow expires with its epoch, before the leases it covers
  LifetimeTooLong,     // a lease lives twice as long as the store assumes
  CostBlindDenials,    // a denial is cached regardless of cost
  UntaggedReports,     // reports are applied to the current epoch instead of their own
  ReportsTwice,        // reports are applied twice
  ForgottenChanges,    // a denial is cached across a change of the usage
  UnclampedEpochs,     // at the end of an epoch the bucket refills leased units
};

}  // namespace penstock::simulation
