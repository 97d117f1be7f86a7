#pragma once

#include <cstdint>

// Memory that floods of clients have used goes back to the system. glibc would keep much of it:
// once a long buffer was freed, buffers of up to 32 MB are taken from its arenas, and what is free
// within an arena stays in the process.
namespace penstock::daemon {

// Long buffers are mapped one by one, and unmapped when they are freed. To be called once, at the
// start.
void set_mmap_threshold();

// Returns what is free in all arenas when many connections have gone, and not more often than every
// ten seconds: it takes a few milliseconds.
//
// Thread-safety: none; each worker has its own.
class MemoryTrimmer {
 public:
  // Once a second, with how many connections have been closed so far. Whether memory was returned.
  bool tick(std::uint64_t closed);

 private:
  static constexpr std::uint64_t kMinClosedConnections = 50;
  static constexpr unsigned kMinTicks = 10;
  std::uint64_t known_ = 0;  // connections that had been closed when memory was returned
  unsigned ticks_ = 0;       // since then
};

}  // namespace penstock::daemon
