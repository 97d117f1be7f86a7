#pragma once

#include "penstock/result.hpp"
#include "replay/input/byte_source.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace penstock::app {

// A log file, or standard input ("-").
class LogFile final : public replay::ByteSource {
 public:
  // InvalidInput when it cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<LogFile>> open(const std::string& path);
  ~LogFile() override;

  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override;

  // Bytes of the file; 0 for standard input and pipes.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  LogFile(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  std::uint64_t size_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace penstock::app
