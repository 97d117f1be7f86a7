// libFuzzer: bytes of a client in portions; the first byte is the portion size. The reader
// terminates, stays within its limits, and portions do not change the result.

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

// All words with their lengths, and the final error.
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

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), read_in_portions);
  return 0;
}
