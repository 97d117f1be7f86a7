#include "servers/wait.hpp"

#include "base/deadline.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace penstock::servers {

void wait_until(const std::string& what, const std::function<bool()>& holds,
                std::chrono::milliseconds test_timeout) {
  constexpr std::chrono::milliseconds kMaxPause{16};
  const base::Deadline deadline = base::deadline_after(test_timeout);
  std::chrono::milliseconds pause{1};
  while (!holds()) {
    if (base::monotonic_now() > deadline) {
      throw std::runtime_error("waited " + std::to_string(test_timeout.count()) + " ms for " +
                               what);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kMaxPause);
  }
}

}  // namespace penstock::servers
