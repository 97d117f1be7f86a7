#pragma once

#include "penstock/result.hpp"

#include <cstddef>
#include <span>

namespace penstock::replay {

// The bytes of a log; files and standard input are the program's.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // The number of bytes read; 0 at the end.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<char> into) = 0;
};

}  // namespace penstock::replay
