#pragma once

#include "core/sharing_terms.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace penstock::bench {

// --mode and --lease-lifetime.
void add_mode_options(CLI::App& command, std::string& mode, std::string& lifetime);

// What they say; the error names the option and the value.
[[nodiscard]] Result<core::SharingTerms> parse_terms(const std::string& mode,
                                                     const std::string& lifetime);

// Whether this can be leased at all.
[[nodiscard]] Result<void> check_mode(const core::SharingTerms& terms, Algorithm algorithm);

// What the mode may admit beyond what an exact limiter may, in any time: docs/guarantees.md.
[[nodiscard]] std::uint64_t allowance(const core::SharingTerms& terms, const Quota& quota);

}  // namespace penstock::bench
