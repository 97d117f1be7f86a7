#pragma once

#include "penstock/quota.hpp"

#include <array>
#include <string>

namespace penstock::vectors {

inline constexpr std::array kAlgorithms{
    Algorithm::TokenBucket,    Algorithm::Gcra,       Algorithm::FixedWindow,
    Algorithm::AnchoredWindow, Algorithm::SlidingLog, Algorithm::SlidingCounter,
    Algorithm::SubWindows,
};

// "token_bucket.txt"
[[nodiscard]] std::string file_name(Algorithm algorithm);

// The whole file, as README.md describes it, answered by the oracle. Equal on every machine.
[[nodiscard]] std::string compose(Algorithm algorithm);

}  // namespace penstock::vectors
