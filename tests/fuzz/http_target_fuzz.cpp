// libFuzzer: paths, queries, addresses and forwarding headers. A parsed address prints to the same
// address; forwarded requests become attributes or an error.

#include "http/client_address.hpp"
#include "http/target.hpp"
#include "wire/http/api/forward_auth.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace penstock::http;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_path(std::string_view text) {
  check(!segments(text).empty());
  const std::optional<std::string> decoded = percent_decoded(text);
  if (decoded) check(decoded->size() <= text.size());
}

void read_query(std::string_view text) {
  Parameters parameters(text);
  static_cast<void>(parameters.text("limit"));
  static_cast<void>(parameters.parse_number("n", 1, 1000));
  static_cast<void>(parameters.finish());
}

void read_client(std::string_view text, const TrustedProxies& trusted) {
  const std::optional<penstock::base::IpAddress> address = read_address(text);
  if (address) {
    std::string written;
    address->append_to(written);
    check(read_address(written) == address);
  }
  std::vector<Field> fields;
  std::string_view rest = text;
  while (fields.size() < 100 && !rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t colon = std::min(line.find(':'), line.size());
    fields.push_back({line.substr(0, colon), line.substr(std::min(colon + 1, line.size()))});
  }
  for (const std::string_view peer : {"10.0.0.1", "192.0.2.1"}) {
    Request request{
        .method = "GET", .path = "/", .query = {}, .fields = fields, .body = {}, .peer = peer};
    check(!client_address(request, trusted).empty());
    const penstock::Result<ForwardedAttributes> forwarded =
        ForwardedAttributes::read(request, trusted, {});
    if (!forwarded) {
      check(!forwarded.error().detail.empty());
      continue;
    }
    for (const penstock::rules::Attribute& entry : forwarded->descriptor().entries) {
      if (entry.name == "client_ip" && peer == "192.0.2.1") check(entry.value == peer);
    }
  }
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TrustedProxies trusted =
      TrustedProxies::parse(std::vector<std::string>{"10.0.0.0/8"}).value();
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  read_path(text);
  read_query(text);
  read_client(text, trusted);
  for (const std::string_view name : {"X-Forwarded-For:", "X-Real-Ip:", "X-Original-URL:"}) {
    read_client(std::string(name) + std::string(text), trusted);
  }
  return 0;
}
