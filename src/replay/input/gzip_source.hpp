#pragma once

#include "replay/input/byte_source.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace penstock::replay {

// Inflates a source that starts like a gzip file, and passes others on. A file of several members
// is read to its end, as gzip does.
//
// Memory is constant. The work is bounded by the length of the input: a file that expands by more
// than kMaxRatio, which no log does, is an error once it has kMinJudged bytes.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source);
  ~GzipSource() override;

  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override;

  static constexpr std::uint64_t kMaxRatio = 250;
  static constexpr std::uint64_t kMinJudged = std::uint64_t{16} << 20U;

 private:
  struct Inflater;  // of zlib

  // Reads more input if all of it is used. Returns whether there is any.
  [[nodiscard]] Result<bool> fill();
  [[nodiscard]] Result<std::size_t> copy(std::span<char> into);
  [[nodiscard]] Result<std::size_t> inflate_some(std::span<char> into);

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<Inflater> inflater_;  // null when the source is not compressed
  std::vector<char> input_;
  std::size_t begin_ = 0;  // of the unused input
  std::size_t end_ = 0;
  bool is_started_ = false;
  bool is_in_member_ = false;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
};

}  // namespace penstock::replay
