// libFuzzer: bytes of a server in portions; the first byte is the portion size. The reader
// terminates, stays within its limits, and portions do not change the result.

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

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), read_in_portions);
  return 0;
}
