#include "bench/program/mode_arguments.hpp"

#include "apps/command_line/arguments.hpp"
#include "core/lease.hpp"

#include <array>

namespace penstock::bench {
namespace {

using core::Mode;

constexpr std::array kModes{Mode::Exact, Mode::Lease, Mode::LeaseStrict, Mode::Adaptive,
                            Mode::Local};
constexpr Duration kShortest = std::chrono::milliseconds{10};
constexpr Duration kLongest = std::chrono::seconds{10};

}  // namespace

void add_mode_options(CLI::App& command, std::string& mode, std::string& lifetime) {
  command
      .add_option("--mode", mode,
                  "Mode of the limits: exact, lease, lease_strict, adaptive or local")
      ->capture_default_str()
      ->type_name("MODE");
  command.add_option("--lease-lifetime", lifetime, "Lifetime of a lease")
      ->capture_default_str()
      ->type_name("TIME");
}

Result<core::SharingTerms> parse_terms(const std::string& mode, const std::string& lifetime) {
  const Result<Duration> lasts =
      app::parse_duration("--lease-lifetime", lifetime, kShortest, kLongest);
  if (!lasts) return lasts.error();
  for (const Mode known : kModes) {
    if (mode == core::to_string(known)) {
      return core::SharingTerms{.mode = known, .lifetime = *lasts};
    }
  }
  return Error{
      ErrorCode::InvalidInput,
      "--mode: unknown mode \"" + mode + "\"; use exact, lease, lease_strict, adaptive or local"};
}

Result<void> check_mode(const core::SharingTerms& terms, Algorithm algorithm) {
  const bool leases = terms.mode != Mode::Exact && terms.mode != Mode::Local;
  if (!leases || core::can_lease(algorithm)) return {};
  return Error{ErrorCode::InvalidInput,
               "--mode: " + std::string(to_string(algorithm)) + " cannot be leased; use exact"};
}

std::uint64_t allowance(const core::SharingTerms& terms, const Quota& quota) {
  const bool burns = terms.mode == Mode::Lease || terms.mode == Mode::Adaptive;
  if (!burns || !quota.is_bucket()) return 0;
  const auto lifetime = static_cast<std::uint64_t>(terms.lifetime.count());
  const auto period = static_cast<std::uint64_t>(quota.period().count());
  return (quota.limit() * lifetime + period - 1) / period;
}

}  // namespace penstock::bench
