#pragma once

#include "penstock/time.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace penstock::daemon {

// Detects changed files: written in place, replaced by a rename (editors) or by swapping a symbolic
// link above them (Kubernetes). It polls, with one stat per file, because kernel notifications do
// not cover network file systems and bind mounts.
class FileWatch {
 public:
  // Takes the current state of these files as the baseline.
  void watch(std::vector<std::filesystem::path> files);

  // The maximum time to wait until files stop changing.
  static constexpr std::chrono::milliseconds kLongestWait{1000};

  // Whether the files have changed and are stable: equal in two polls in a row, or changing for
  // kLongestWait. True once per change.
  [[nodiscard]] bool poll(Instant now);
  // The time until the next poll; shorter while files change.
  [[nodiscard]] std::chrono::milliseconds next_poll(Instant now) const;

 private:
  // Distinguishes two versions of a file without reading it.
  struct Signature {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -1;  // -1: no such file
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
