#pragma once

#include "penstock/result.hpp"
#include "resp/value.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace penstock::resp {

// Bounds of what a server can make us hold. A larger reply is an error, and so is all that follows.
struct ReplyLimits {
  std::size_t bulk = std::size_t{64} << 20U;  // bytes of one string
  std::size_t line = std::size_t{64} << 10U;  // bytes of one status, error or length
  std::size_t elements = 1'000'000;           // of one reply, over all levels
};

// Reads RESP2 replies from bytes that arrive in any portions. Arrays may be nested seven deep.
// After an error the reader is of no more use: the stream has lost its rhythm.
//
// Thread-safety: none.
class ReplyReader {
 public:
  explicit ReplyReader(ReplyLimits limits = {});
  ~ReplyReader();
  ReplyReader(ReplyReader&&) noexcept;
  ReplyReader& operator=(ReplyReader&&) noexcept;
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  void feed(std::string_view bytes);

  // The next reply, or nothing until more bytes have come. Errors are ErrorCode::Protocol.
  [[nodiscard]] Result<std::optional<Value>> next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::resp
