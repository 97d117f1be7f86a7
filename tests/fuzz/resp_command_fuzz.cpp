// libFuzzer: bytes of a client in any portions. The first byte says how long a portion is. Whatever
// comes, the reader ends, stays within its limits, and reads the same as from the whole.

#include "portions.hpp"
#include "resp/command_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using penstock::fuzz::check;
using penstock::fuzz::Input;
using penstock::resp::CommandLimits;
using penstock::resp::CommandReader;

constexpr CommandLimits kLimits{.bytes = 4096, .words = 32};

// All words with their lengths, and the error in the end.
std::string read_in_portions(const Input& input) {
  CommandReader reader(kLimits);
  std::string seen;
  penstock::fuzz::feed(input, [&](std::string_view bytes) {
    const std::size_t taken = penstock::fuzz::fill(reader, bytes);
    check(reader.capacity() <= 4 * kLimits.bytes);
    while (reader.next() == CommandReader::Progress::Ready) {
      check(!reader.words().empty() && reader.words().size() <= kLimits.words);
      for (const std::string_view word : reader.words()) {
        seen += std::to_string(word.size()) + ":";
        seen += word;
      }
      seen += ';';
    }
    return reader.error().empty() ? taken : 0;
  });
  return seen + reader.error();
}

}  // namespace

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), read_in_portions);
  return 0;
}
