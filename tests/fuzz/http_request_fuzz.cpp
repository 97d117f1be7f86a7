// libFuzzer: bytes of a client in any portions. The first byte says how long a portion is. Whatever
// comes, the reader ends, stays within its limits, and reads the same as from the whole.

#include "wire/http/server/request_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using penstock::http::Field;
using penstock::http::ReaderLimits;
using penstock::http::Request;
using penstock::http::RequestReader;
using Progress = RequestReader::Progress;

constexpr ReaderLimits kLimits{.header_bytes = 600, .body_bytes = 200, .fields = 8};

void check(bool holds) {
  if (!holds) std::abort();
}

// All that the handler would see, with ends that no text can imitate.
void append(std::string& seen, std::string_view text) {
  seen += std::to_string(text.size()) + ":";
  seen += text;
}

void append(std::string& seen, const Request& request) {
  check(request.fields.size() <= kLimits.fields);
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

// False when nothing more can come.
bool drain(RequestReader& reader, std::string& seen) {
  while (true) {
    switch (reader.next()) {
      case Progress::NeedMore: return true;
      case Progress::SendContinue: break;  // depends on what has arrived, as it should
      case Progress::Ready: append(seen, reader.request()); break;
      case Progress::Refused:
        append(seen, std::to_string(reader.refusal().status));
        append(seen, reader.refusal().detail);
        return false;
    }
  }
}

std::string read_in_portions(std::string_view bytes, std::size_t portion) {
  RequestReader reader(kLimits);
  std::string seen;
  bool goes_on = true;
  while (!bytes.empty() && goes_on) {
    const auto room = reader.room();
    check(!room.empty());
    const std::size_t size = std::min({portion, bytes.size(), room.size()});
    std::copy_n(bytes.begin(), size, room.begin());
    reader.commit(size);
    bytes.remove_prefix(size);
    goes_on = drain(reader, seen);
  }
  return seen;
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
  check(whole == parts);
  return 0;
}
