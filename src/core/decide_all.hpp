#pragma once

#include "base/check.hpp"
#include "penstock/check.hpp"
#include "penstock/clock.hpp"
#include "penstock/decision.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

// Multi-limit checks: all limits of a request pass, or none is charged; the strictest one answers.
// The same code decides in the memory store and replays the decisions of the Redis scripts.
namespace penstock::core {

// Whether `a` decides rather than `b`: of two denials, the longer wait, NeverFits being longest;
// otherwise a denial, or the least remaining. False for equal ones.
[[nodiscard]] bool is_stricter(const Decision& a, const Decision& b) noexcept;

// The one that decided, with its position: the first than which none is stricter. REQUIRES: there
// is one.
[[nodiscard]] Decision strictest(std::span<const Decision> decisions);

// A cost may be any number: two of them must not add up to a small one.
[[nodiscard]] constexpr Cost plus(Cost a, Cost b) noexcept {
  return {a.units + std::min(b.units, ~a.units)};
}

// One limit of a request. Checks with equal key() charge the same usage.
template <class Item>
concept MultiCheckItem = requires(Item item) {
  { item.key() } -> std::totally_ordered;
  { *item.quota } -> std::convertible_to<const Quota&>;
  { item.cost } -> std::convertible_to<Cost>;
  { item.pending } -> std::convertible_to<Cost>;  // set by find_pending()
};

// A MultiCheckItem with access to its usage. preview() decides without charging.
template <class Item>
concept DecidableItem = MultiCheckItem<Item> && requires(Item item, Cost cost, Instant now) {
  { item.preview(cost, now) } -> std::same_as<Decision>;
  { item.decide(now) } -> std::same_as<Decision>;
};

namespace detail {

// Up to this size, comparing all pairs is faster than sorting.
inline constexpr std::size_t kMaxPairwise = 32;

// Charges of the same key by the checks before this one, and by all checks under another quota:
// the whole request must fit each quota. `item_at` maps a position below `count` to a check.
template <class ItemAt>
[[nodiscard]] Cost pending_at(std::size_t count, std::size_t index, ItemAt item_at) {
  const MultiCheckItem auto& item = item_at(index);
  Cost pending{0};
  for (std::size_t i = 0; i < count; ++i) {
    const MultiCheckItem auto& other = item_at(i);
    if (i == index || other.key() != item.key()) continue;
    if (i > index && *other.quota == *item.quota) continue;
    pending = plus(pending, other.cost);
  }
  return pending;
}

// For the checks of one key, in their order.
template <MultiCheckItem Item>
void find_pending_of_key(std::span<Item> items, std::span<const std::size_t> positions) {
  const Quota& first = *items[positions.front()].quota;
  const bool has_one_quota =
      std::all_of(positions.begin(), positions.end(),
                  [&](std::size_t position) { return *items[position].quota == first; });
  const auto item_at = [&](std::size_t i) -> Item& { return items[positions[i]]; };
  Cost sum{0};
  for (std::size_t i = 0; i < positions.size(); ++i) {
    item_at(i).pending = has_one_quota ? sum : pending_at(positions.size(), i, item_at);
    sum = plus(sum, item_at(i).cost);
  }
}

}  // namespace detail

// Sets Item::pending: what other checks of the request charge to the same key before this one.
template <MultiCheckItem Item>
void find_pending(std::span<Item> items) {
  if (items.size() <= detail::kMaxPairwise) {
    const auto item_at = [&](std::size_t i) -> const Item& { return items[i]; };
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].pending = detail::pending_at(items.size(), i, item_at);
    }
    return;
  }
  std::vector<std::size_t> positions(items.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    return std::less<>{}(items[a].key(), items[b].key());
  });
  const std::span<const std::size_t> all(positions);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && items[all[end]].key() == items[all[begin]].key()) ++end;
    detail::find_pending_of_key(items, all.subspan(begin, end - begin));
  }
}

// The cost that must fit the limit. A peek behind other charges needs one unit more than they take.
// REQUIRES: find_pending() was called.
template <MultiCheckItem Item>
[[nodiscard]] Cost required_cost(const Item& item) {
  const bool peeks_after_others = item.cost.units == 0 && item.pending.units > 0;
  return plus(peeks_after_others ? Cost{1} : item.cost, item.pending);
}

// Charges all or none; `decisions` receives the decision of each limit. Returns whether the request
// passed. REQUIRES: find_pending() was called; decisions is as long as items.
template <DecidableItem Item>
bool decide_all(std::span<Item> items, std::span<Decision> decisions, Instant now) {
  PENSTOCK_CHECK(decisions.size() == items.size());
  bool all_allowed = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    decisions[i] = items[i].preview(required_cost(items[i]), now);
    all_allowed = all_allowed && decisions[i].allowed();
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (all_allowed) {
      decisions[i] = items[i].decide(now);
    } else if (decisions[i].allowed()) {
      // denied by another limit: show what this one has left without the request
      decisions[i] = items[i].preview(Cost{0}, now);
    }
  }
  return all_allowed;
}

}  // namespace penstock::core
