// libFuzzer: bytes of a server in any portions. The first byte says how long a portion is. Whatever
// comes, the reader ends, stays within its limits, and reads the same as from the whole.

#include "resp/reply_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using penstock::resp::ReplyLimits;
using penstock::resp::ReplyReader;

struct Count {
  std::size_t replies = 0;
  bool failed = false;

  friend bool operator==(const Count&, const Count&) = default;
};

Count read_in_portions(std::string_view bytes, std::size_t portion) {
  ReplyReader reader(ReplyLimits{.bulk = 4096, .line = 256, .elements = 1000});
  Count count;
  while (!bytes.empty() && !count.failed) {
    const std::size_t size = std::min(portion, bytes.size());
    reader.feed(bytes.substr(0, size));
    bytes.remove_prefix(size);
    while (true) {
      const auto reply = reader.next();
      count.failed = !reply;
      if (!reply || !reply->has_value()) break;
      ++count.replies;
    }
  }
  return count;
}

}  // namespace

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(static_cast<const char*>(static_cast<const void*>(data + 1)),
                               size - 1);
  const Count whole = read_in_portions(bytes, bytes.size());
  const Count parts = read_in_portions(bytes, std::size_t{data[0]} + 1);
  if (whole != parts) std::abort();
  return 0;
}
