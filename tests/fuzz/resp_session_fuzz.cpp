// libFuzzer: what a client sends to the RESP listener, in any portions, run as commands on counts
// in memory. The first byte says how long a portion is. Whatever comes, the replies are the same as
// from the whole, nothing is awaited, and what is kept stays within its bounds.

#include "fuzz_service.hpp"
#include "portions.hpp"
#include "wire/resp/conversation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace penstock::wire::resp;
using penstock::fuzz::check;
using penstock::fuzz::FuzzService;
using penstock::fuzz::Input;
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

std::string talk_in_portions(const Input& input) {
  FuzzService parts;
  penstock::net::Statistics statistics;
  Surroundings surroundings{
      .service = parts.service,
      .statistics = statistics,
      .terms = {
          .limits = {.bytes = kMaxBytes, .words = 64}, .version = "1.0.0", .most_under_way = 10}};
  auto conversation = std::make_shared<Conversation>(surroundings, "127.0.0.1:5");
  std::string said;
  check(advance(*conversation, said));
  penstock::fuzz::feed(input, [&](std::string_view bytes) {
    const std::size_t taken = penstock::fuzz::fill(conversation->reader(), bytes);
    check(conversation->reader().capacity() <= 4 * kMaxBytes);
    return advance(*conversation, said) ? taken : 0;
  });
  conversation->abandon();
  return said;
}

}  // namespace

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), talk_in_portions);
  return 0;
}
