#pragma once

#include "replay/input/byte_source.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::replay {

// A text in portions, for tests and other sources in memory.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text, std::size_t portion = std::size_t{1} << 20U)
      : text_(std::move(text)), portion_(portion) {}

  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min({into.size(), portion_, text_.size() - at_});
    std::copy_n(text_.data() + at_, size, into.begin());
    at_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t portion_;
  std::size_t at_ = 0;
};

}  // namespace penstock::replay
