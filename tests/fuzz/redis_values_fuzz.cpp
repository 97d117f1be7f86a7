// libFuzzer: names and values of keys in Redis. Other programs can write to them, so any bytes must
// be safe, and a parsed value serializes to the same bytes.

#include "redis_store/keys/key_layout.hpp"
#include "redis_store/redis_reservation_store.hpp"
#include "redis_store/replay/state_codec.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

namespace {

using namespace penstock;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_state(std::string_view bytes) {
  const auto content = redis_store::decode(bytes);
  if (!content || !content->quota || content->blocked_until != Instant{}) return;
  // Sub-windows that are all unused are read as none, which is never written.
  const auto* windows = std::get_if<core::SubWindows::State>(&content->state);
  if (windows != nullptr && windows->counts.empty()) return;
  const std::string written = redis_store::encode(*content);
  const auto again = redis_store::decode(written);
  check(again.has_value());
  check(again->quota == content->quota);
  check(redis_store::encode(*again) == written);
}

void read_escrow(std::string_view bytes) {
  const auto escrow = redis_store::decode_escrow(bytes);
  if (!escrow) return;
  const std::string written = redis_store::encode(*escrow);
  const auto again = redis_store::decode_escrow(written);
  check(again && redis_store::encode(*again) == written);
}

void read_held(std::string_view bytes) {
  const auto held = redis_store::decode_held(bytes);
  if (!held) return;
  // A quota may be written in several ways, with more spaces for instance.
  const std::string written = redis_store::encode(*held);
  const auto again = redis_store::decode_held(written);
  check(again && redis_store::encode(*again) == written);
}

void read_name(std::string_view bytes) {
  const redis_store::KeyLayout layout("p");
  const std::string key = layout.start() + std::string(bytes);
  const auto name = redis_store::read_key(key, layout);
  if (!name || name->kind != redis_store::KeyKind::Limit || name->subject.starts_with('#')) return;
  if (name->limit_name.starts_with('#')) return;
  check(key == (name->limit_name.empty() ? layout.limit(name->subject)
                                         : layout.limit(name->subject, name->limit_name)));
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(static_cast<const char*>(static_cast<const void*>(data + 1)),
                               size - 1);
  switch (data[0] % 4) {
    case 0: read_state(bytes); break;
    case 1: read_escrow(bytes); break;
    case 2: read_held(bytes); break;
    default: read_name(bytes);
  }
  return 0;
}
