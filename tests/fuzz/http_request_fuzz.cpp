// libFuzzer: bytes of a client in portions; the first byte is the portion size. The reader
// terminates, stays within its limits, and portions do not change the result.

#include "portions.hpp"
#include "wire/http/server/request_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using penstock::fuzz::check;
using penstock::fuzz::Input;
using penstock::http::Field;
using penstock::http::ReaderLimits;
using penstock::http::Request;
using penstock::http::RequestReader;
using Progress = RequestReader::Progress;

constexpr ReaderLimits kLimits{.header_bytes = 600, .body_bytes = 200};

// Everything the handler would see, with delimiters that no text can imitate.
void append(std::string& seen, std::string_view text) {
  seen += std::to_string(text.size()) + ":";
  seen += text;
}

void append(std::string& seen, const Request& request) {
  check(request.fields.size() <= penstock::http::kMaxFields);
  check(request.body.size() <= kLimits.body_bytes);
  check(!request.method.empty() && !request.path.empty());
  for (const std::string_view text : {request.method, request.path, request.query, request.body}) {
    append(seen, text);
  }
  for (const Field& field : request.fields) {
    check(field.value.find_first_of("\r\n") == std::string_view::npos);
    append(seen, field.name);
    append(seen, field.value);
  }
}

// False when nothing more can arrive.
bool drain(RequestReader& reader, std::string& seen) {
  while (true) {
    switch (reader.next()) {
      case Progress::NeedMore: return true;
      case Progress::SendContinue: break;  // depends on the portions by design
      case Progress::Ready: append(seen, reader.request()); break;
      case Progress::Invalid:
        append(seen, std::to_string(reader.error().status));
        append(seen, reader.error().detail);
        return false;
    }
  }
}

std::string read_in_portions(const Input& input) {
  RequestReader reader(kLimits);
  std::string seen;
  penstock::fuzz::feed(input, [&](std::string_view bytes) {
    const std::size_t taken = penstock::fuzz::fill(reader, bytes);
    return drain(reader, seen) ? taken : 0;
  });
  return seen;
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  penstock::fuzz::check_portions(penstock::fuzz::input_of(data, size), read_in_portions);
  return 0;
}
