#pragma once

#include "penstock/check.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::core {

// Where a limit is decided. docs/explanation/guarantees.md has what each of them promises.
enum class Mode : std::uint8_t {
  Exact,        // every request by the shared store
  Lease,        // by this node, out of what it leased: up to rate x lifetime more than exact
  LeaseStrict,  // the same, and not one more than exact
  Adaptive,     // exact, until a key proves hot on this node: then leased, and back
  Local,        // by this node alone
};

[[nodiscard]] constexpr std::string_view to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::Exact: return "exact";
    case Mode::Lease: return "lease";
    case Mode::LeaseStrict: return "lease_strict";
    case Mode::Adaptive: return "adaptive";
    case Mode::Local: return "local";
  }
  return "unknown";
}

// How a limit is shared between nodes.
struct SharingTerms {
  static constexpr Duration kDefaultLifetime = std::chrono::milliseconds{100};

  Mode mode = Mode::Exact;
  bool divided = false;                  // local: this node has its part of the limit only
  Duration lifetime = kDefaultLifetime;  // of a lease, at most

  friend constexpr bool operator==(const SharingTerms&, const SharingTerms&) = default;
};

// The name of a limit's usage: the subject ("api_key=abc", empty for a limit of all requests) and
// the limit ("api/search", empty for a limit without a name). Usage of one subject lives in one
// slot of a cluster.
struct LimitKey {
  std::string subject;
  std::string limit;

  friend auto operator<=>(const LimitKey&, const LimitKey&) = default;
};

// A check of one limit that owns its name.
struct NamedCheck {
  LimitKey name;
  Quota quota;
  Cost cost{};
  SharingTerms terms{};
};

}  // namespace penstock::core
