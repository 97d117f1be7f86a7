#pragma once

#include <cstdint>

// Returns memory to the system after a flood of clients. By default glibc keeps much of it: once a
// large buffer was freed, it allocates up to 32 MB from arenas, which never shrink.
namespace penstock::daemon {

// Makes malloc map large buffers one by one, so that free() unmaps them. Call once at startup.
void set_mmap_threshold();

// Trims all arenas after many connections have closed, at most every ten seconds: a trim takes a
// few milliseconds.
//
// Thread-safety: none; each worker has its own.
class MemoryTrimmer {
 public:
  // Called once a second with the total of closed connections. Returns whether it trimmed.
  bool tick(std::uint64_t closed);

 private:
  static constexpr std::uint64_t kMinClosedConnections = 50;
  static constexpr unsigned kMinTicks = 10;
  std::uint64_t known_ = 0;  // closed connections at the last trim
  unsigned ticks_ = 0;       // since then
};

}  // namespace penstock::daemon
