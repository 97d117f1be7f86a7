#include "apps/penstock/demo/demo_caption.hpp"

#include "apps/penstock/demo/demo_scenario.hpp"
#include "core/duration_text.hpp"

namespace penstock::app {

std::string demo_caption(const Quota& quota) {
  const Duration period = quota.period();
  const std::string any_period = " in any " + core::exact_text(period);
  switch (quota.algorithm()) {
    case Algorithm::FixedWindow:
      return "The count starts again at every boundary, so both bursts pass in full: up to twice "
             "the limit" +
             any_period + ".";
    case Algorithm::AnchoredWindow: {
      const Duration step = period * kBurstColumns / kColumnsPerPeriod;
      return "Windows start with a key's first request: here one runs from " +
             core::ruler_label(-step, step) + " to " + core::ruler_label(period - step, step) +
             ". A burst around such a boundary of its own would pass twice all the same.";
    }
    case Algorithm::SlidingCounter:
      return "The count of the last window fades out over this one, so passage comes back little "
             "by little. At most " +
             std::to_string(2 * std::uint64_t{quota.limit()} - 1) + any_period + ".";
    case Algorithm::SubWindows:
      return "The promise of the log, kept with " + std::to_string(quota.sub_window_count() + 1) +
             " counters: a request counts until its whole part of " +
             core::rounded_up_text(period / quota.sub_window_count()) +
             " is past, so room comes back a little later.";
    case Algorithm::SlidingLog:
      return "Every passage is remembered for a full " + core::exact_text(period) +
             ": never more than " + std::to_string(quota.limit()) + any_period +
             ", wherever it begins.";
    case Algorithm::TokenBucket:
      return "A bucket of " + std::to_string(quota.capacity()) +
             ", refilled evenly: a burst takes what is there, " +
             "then a steady pace passes. At most " +
             std::to_string(std::uint64_t{quota.capacity()} + quota.limit() - 1) + any_period +
             ", by design.";
    case Algorithm::Gcra:
      return "The bucket again, kept as a single instant per key: the same requests pass.";
  }
  return {};
}

}  // namespace penstock::app
