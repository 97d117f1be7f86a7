#pragma once

#include "core/named_check.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace penstock::bench {

// Adds --mode and --lease-lifetime.
void add_mode_options(CLI::App& command, std::string& mode, std::string& lifetime);

// Errors name the option and the value.
[[nodiscard]] Result<core::SharingTerms> parse_terms(const std::string& mode,
                                                     const std::string& lifetime);

// Fails if the algorithm cannot be leased.
[[nodiscard]] Result<void> check_mode(const core::SharingTerms& terms, Algorithm algorithm);

// Admissions of the mode beyond those of an exact limiter, per key: docs/explanation/guarantees.md.
[[nodiscard]] std::uint64_t allowance(const core::SharingTerms& terms, const Quota& quota);

}  // namespace penstock::bench
