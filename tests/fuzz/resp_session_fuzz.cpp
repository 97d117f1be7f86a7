// libFuzzer: what a client sends to the RESP listener, in any portions, run as commands on counts
// in memory. The first byte says how long a portion is. Whatever comes, the replies are the same as
// from the whole, nothing is awaited, and what is kept stays within its bounds.

#include "fuzz_service.hpp"
#include "wire/resp/conversation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace penstock::wire::resp;
using penstock::fuzz::check;
using penstock::fuzz::FuzzService;
using Step = Conversation::Step;

constexpr std::size_t kMaxBytes = 4096;

// Runs all commands that have arrived. False when nothing more is read.
bool advance(Conversation& conversation, std::string& said) {
  while (true) {
    const Step step = conversation.advance();
    check(!conversation.awaits_answers());
    if (conversation.has_output()) said += conversation.take_output();
    if (step == Step::Read) return true;
    if (step == Step::Close) return false;
  }
}

std::string talk_in_portions(std::string_view bytes, std::size_t portion) {
  FuzzService parts;
  penstock::net::Statistics statistics;
  Surroundings surroundings{
      .service = parts.service,
      .statistics = statistics,
      .terms = {
          .limits = {.bytes = kMaxBytes, .words = 64}, .version = "1.0.0", .most_under_way = 10}};
  auto conversation = std::make_shared<Conversation>(surroundings, "127.0.0.1:5");
  std::string said;
  bool reads = advance(*conversation, said);
  while (reads && !bytes.empty()) {
    const auto room = conversation->reader().room();
    check(!room.empty() && conversation->reader().capacity() <= 4 * kMaxBytes);
    const std::size_t size = std::min({portion, bytes.size(), room.size()});
    std::memcpy(room.data(), bytes.data(), size);
    conversation->reader().commit(size);
    bytes.remove_prefix(size);
    reads = advance(*conversation, said);
  }
  conversation->abandon();
  return said;
}

}  // namespace

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(static_cast<const char*>(static_cast<const void*>(data + 1)),
                               size - 1);
  const std::string whole = talk_in_portions(bytes, bytes.size());
  const std::string parts = talk_in_portions(bytes, std::size_t{data[0]} + 1);
  check(whole == parts);
  return 0;
}
