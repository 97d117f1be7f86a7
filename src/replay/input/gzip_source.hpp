#pragma once

#include "replay/input/byte_source.hpp"

#include <memory>
#include <span>
#include <vector>

namespace penstock::replay {

// Inflates a source that starts like a gzip file, and passes others on. A file of several members
// is read to its end, and zeros after a member are ignored, as gzip does.
//
// Memory is constant, and the work is bounded by the length of the input: deflate expands by at
// most 1032 times. A log of one client and one URL comes near to 300 times.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source);
  ~GzipSource() override;

  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override;

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
};

}  // namespace penstock::replay
