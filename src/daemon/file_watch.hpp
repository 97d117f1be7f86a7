#pragma once

#include "penstock/time.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace penstock::daemon {

// Notices that files are no longer what they were, however that came about: written in place,
// replaced by a rename as editors do, or by swapping a symbolic link above them as Kubernetes does.
// It looks when told to; looking costs one stat a file, and works where notifications of the kernel
// do not (network file systems, bind mounts).
class FileWatch {
 public:
  // What these files are now is what is known.
  void watch(std::vector<std::filesystem::path> files);

  // How long to wait at the most for files to stop changing.
  static constexpr std::chrono::milliseconds kLongestWait{1000};

  // Whether they have changed since, and have stopped changing: the same twice in a row, so that a
  // file that is being written is left alone, but for kLongestWait at the most. Says so once for
  // each change.
  [[nodiscard]] bool poll(Instant now);
  // When to look again. Files that go on changing are looked at more often, to find a moment
  // between two writes.
  [[nodiscard]] std::chrono::milliseconds next_poll(Instant now) const;

 private:
  // All that tells two versions of a file apart, without reading it.
  struct Signature {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -1;  // -1: it is not there
    std::int64_t changed_ns = 0;

    friend bool operator==(const Signature&, const Signature&) = default;
  };
  using Signatures = std::vector<Signature>;

  [[nodiscard]] static Signature signature_of(const std::filesystem::path& file);
  [[nodiscard]] Signatures signatures() const;

  std::vector<std::filesystem::path> files_;
  Signatures known_;
  std::optional<Signatures> changing_;
  Instant changing_since_{};  // of changing_
};

}  // namespace penstock::daemon
