// libFuzzer: quotas, durations, decimals and URLs. Accepted text prints to text that parses to the
// same value.

#include "core/duration_text.hpp"
#include "penstock/quota.hpp"
#include "redis/url.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace penstock;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_url(std::string_view text) {
  const auto url = redis::Url::parse(text);
  if (!url) return;
  redis::Url other = *url;
  if (!url->password.empty()) other.password = "another";
  check(redis::to_string(other) == redis::to_string(*url));  // the password is not shown
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  if (const auto quota = Quota::parse(text)) {
    const auto again = Quota::parse(to_string(*quota));
    check(again && *again == *quota);
  }
  if (const auto duration = core::parse_duration(text)) {
    const auto cut = std::chrono::floor<std::chrono::milliseconds>(*duration);
    check(core::parse_duration(core::duration_text(*duration)) == Duration{cut});
  }
  read_url(text);
  return 0;
}
