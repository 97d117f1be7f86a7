// libFuzzer: bytes of a server in any portions. The first byte says how long a portion is. Whatever
// comes, the reader ends, stays within its limits, and reads the same as from the whole.

#include "portions.hpp"
#include "resp/reply_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using penstock::fuzz::Input;
using penstock::resp::ReplyLimits;
using penstock::resp::ReplyReader;

struct Count {
  std::size_t replies = 0;
  bool failed = false;

  friend bool operator==(const Count&, const Count&) = default;
};

Count read_in_portions(const Input& input) {
  ReplyReader reader(ReplyLimits{.bulk = 4096, .line = 256, .elements = 1000});
  Count count;
  penstock::fuzz::feed(input, [&](std::string_view bytes) {
    reader.feed(bytes);
    while (true) {
      const auto reply = reader.next();
      count.failed = !reply;
      if (!reply || !reply->has_value()) break;
      ++count.replies;
    }
    return count.failed ? 0 : bytes.size();
  });
  return count;
}

}  // namespace

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), read_in_portions);
  return 0;
}
