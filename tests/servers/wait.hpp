#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace penstock::servers {

// Timeout of every operation in tests: generous, for busy machines.
inline constexpr std::chrono::seconds kTestTimeout{30};

// Polls until the condition holds. Throws std::runtime_error with `what` on timeout.
void wait_until(const std::string& what, const std::function<bool()>& holds,
                std::chrono::milliseconds test_timeout = kTestTimeout);

}  // namespace penstock::servers
