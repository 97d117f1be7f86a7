#include "apps/command_line/progress.hpp"

#include <unistd.h>

#include <iomanip>
#include <iostream>
#include <string>

namespace penstock::app {

void draw_progress(double share) {
  constexpr int kWidth = 40;
  if (isatty(STDERR_FILENO) == 0) return;
  const int filled = static_cast<int>(share * kWidth);
  std::cerr << '\r' << "  [" << std::string(static_cast<std::size_t>(filled), '#')
            << std::string(static_cast<std::size_t>(kWidth - filled), '.') << "] " << std::setw(3)
            << static_cast<int>(share * 100) << " %" << std::flush;
  if (share >= 1) std::cerr << "\r" << std::string(kWidth + 12, ' ') << '\r' << std::flush;
}

}  // namespace penstock::app
