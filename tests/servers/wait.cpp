#include "servers/wait.hpp"

#include "base/deadline.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace penstock::servers {

void wait_until(const std::string& what, const std::function<bool()>& holds,
                std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kLongestPause{16};
  const base::Deadline deadline = base::deadline_after(patience);
  std::chrono::milliseconds pause{1};
  while (!holds()) {
    if (base::monotonic_now() > deadline) {
      throw std::runtime_error("waited " + std::to_string(patience.count()) + " ms for " + what);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace penstock::servers
