#include "redis_store/lease/change_feed.hpp"

#include <utility>

namespace penstock::redis_store {
namespace {

redis::Subscription::Handlers handlers(KeyLayout layout, ChangeFeed::OnChange on_change) {
  return {.on_message = [layout = std::move(layout), on_change](
                            std::string_view message) { on_change(parse_change(message, layout)); },
          .on_gap = [on_change = std::move(on_change)] { on_change({.is_gap = true}); }};
}

// A part that was too long for a key: its text is unknown.
bool is_hashed(std::string_view part) { return part.starts_with('#'); }

}  // namespace

ChangedKey parse_change(std::string_view message, const KeyLayout& layout) {
  if (message.empty()) return {};
  ChangedKey changed;
  if (message.front() == kRefundSign) changed.change = Change::Refunded;
  std::optional<KeyName> name = read_key(message.substr(1), layout);
  changed.overrides = name && name->kind == KeyKind::Operators;
  if (!name || name->kind != KeyKind::Limit) return changed;
  if (is_hashed(name->subject) || is_hashed(name->limit_name)) return changed;
  changed.name =
      core::LimitKey{.subject = std::move(name->subject), .limit = std::move(name->limit_name)};
  return changed;
}

ChangeFeed::ChangeFeed(const boost::asio::any_io_executor& executor, const RedisOptions& options,
                       redis::Options client, OnChange on_change)
    : subscription_(executor, std::move(client), KeyLayout(options.key_prefix).changes(),
                    handlers(KeyLayout(options.key_prefix), std::move(on_change))) {}

}  // namespace penstock::redis_store
