#pragma once

#include "penstock/result.hpp"

#include <array>
#include <filesystem>
#include <span>

namespace penstock::app {

// Where `penstock serve` looks for a configuration when --config is not given, in this order.
inline constexpr std::array kDefaultConfigurations{"./penstock.yaml",
                                                   "/etc/penstock/penstock.yaml"};

// The first of these files that exists. The error names all of them.
[[nodiscard]] Result<std::filesystem::path> find_configuration(
    std::span<const char* const> candidates = kDefaultConfigurations);

}  // namespace penstock::app
