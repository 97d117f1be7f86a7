// libFuzzer: bytes of a client in any portions. The first byte says how long a portion is. Whatever
// comes, the reader ends, stays within its limits, and reads the same as from the whole.

#include "resp/command_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

using penstock::resp::CommandLimits;
using penstock::resp::CommandReader;

constexpr CommandLimits kLimits{.bytes = 4096, .words = 32};

// All words with their lengths, and the error in the end.
std::string read_in_portions(std::string_view bytes, std::size_t portion) {
  CommandReader reader(kLimits);
  std::string seen;
  while (!bytes.empty() && reader.error().empty()) {
    const auto room = reader.room();
    if (room.empty() || reader.capacity() > 4 * kLimits.bytes) std::abort();
    const std::size_t size = std::min({portion, bytes.size(), room.size()});
    std::memcpy(room.data(), bytes.data(), size);
    reader.commit(size);
    bytes.remove_prefix(size);
    while (reader.next() == CommandReader::Progress::Ready) {
      if (reader.words().empty() || reader.words().size() > kLimits.words) std::abort();
      for (const std::string_view word : reader.words()) {
        seen += std::to_string(word.size()) + ":";
        seen += word;
      }
      seen += ';';
    }
  }
  return seen + reader.error();
}

}  // namespace

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(static_cast<const char*>(static_cast<const void*>(data + 1)),
                               size - 1);
  const std::string whole = read_in_portions(bytes, bytes.size());
  const std::string parts = read_in_portions(bytes, std::size_t{data[0]} + 1);
  if (whole != parts) std::abort();
  return 0;
}
