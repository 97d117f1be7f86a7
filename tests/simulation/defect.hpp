#pragma once

#include <cstdint>

namespace penstock::simulation {

// Mistakes that are easy to make with leases. The simulation makes them on purpose, in its model of
// the store or in what stands around the production code, and has to notice each.
enum class Defect : std::uint8_t {
  None,
  RefundAtExpiry,      // what a lease that is not strict had left goes back to the bucket
  ReportBeforeRefill,  // what was spent is heard before the time is counted that it was leased
  FlooredTtl,          // keys vanish up to a millisecond before their state says nothing
  ShortEscrow,         // the escrow vanishes with its epoch, before the leases that it covers
  LifetimeTooLong,     // a lease lives for twice as long as the store accounts for it
  CostBlindDenials,    // a refusal is repeated whatever the request costs
  UntaggedReports,     // reports count for the current epoch, whichever they are about
  ReportsTwice,        // reports are heard twice
  ForgottenChanges,    // a refusal is remembered although the count was changed meanwhile
  UnclampedEpochs,     // at the end of an epoch the bucket forgets what was leased until then
};

}  // namespace penstock::simulation
