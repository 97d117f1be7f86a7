// libFuzzer: quotas, durations, decimals and URLs as people write them. What is accepted is written
// so that it is read again as the same.

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
  check(redis::to_string(other) == redis::to_string(*url));  // nothing of the password is shown
}

}  // namespace

// libFuzzer's name for it.
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
