// libFuzzer: bytes of a RESP client in portions, executed on in-memory state; the first byte is the
// portion size. Portions do not change the replies, no reply is deferred, and memory stays bounded.

#include "fuzz_service.hpp"
#include "portions.hpp"
#include "wire/resp/session.hpp"

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
using Step = Session::Step;

constexpr std::size_t kMaxBytes = 4096;

// Runs all complete commands. False when nothing more is read.
bool advance(Session& session, std::string& said) {
  while (true) {
    const Step step = session.advance();
    check(!session.awaits_answers());
    if (session.has_output()) said += session.take_output();
    if (step == Step::Read) return true;
    if (step == Step::Close) return false;
  }
}

std::string send_in_portions(const Input& input) {
  FuzzService parts;
  ServerContext server_context(
      parts.service,
      {.limits = {.bytes = kMaxBytes, .words = 64}, .version = "1.0.0", .max_in_flight = 10});
  auto session = std::make_shared<Session>(server_context, "127.0.0.1:5");
  std::string said;
  check(advance(*session, said));
  penstock::fuzz::feed(input, [&](std::string_view bytes) {
    const std::size_t taken = penstock::fuzz::fill(session->reader(), bytes);
    check(session->reader().capacity() <= 4 * kMaxBytes);
    return advance(*session, said) ? taken : 0;
  });
  session->detach();
  return said;
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), send_in_portions);
  return 0;
}
