// libFuzzer: what a client sends to the RESP listener, in any portions, run as commands on counts
// in memory. The first byte says how long a portion is. Whatever comes, the replies are the same as
// from the whole, nothing is awaited, and what is kept stays within its bounds.

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

// Runs all commands that have arrived. False when nothing more is read.
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
  penstock::net::Statistics statistics;
  ServerContext server_context{
      .service = parts.service,
      .statistics = statistics,
      .settings = {
          .limits = {.bytes = kMaxBytes, .words = 64}, .version = "1.0.0", .max_in_flight = 10}};
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

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), send_in_portions);
  return 0;
}
