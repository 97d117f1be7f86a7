#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace penstock::servers {

// How long anything here may take before it counts as broken: far more than it needs, for machines
// that are busy with something else.
inline constexpr std::chrono::seconds kTestTimeout{30};

// Asks again and again until the condition holds. Throws std::runtime_error with `what` when that
// takes too long.
void wait_until(const std::string& what, const std::function<bool()>& holds,
                std::chrono::milliseconds test_timeout = kTestTimeout);

}  // namespace penstock::servers
