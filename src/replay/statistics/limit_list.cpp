#include "replay/statistics/limit_list.hpp"

#include <algorithm>
#include <utility>

namespace penstock::replay {

LimitList::LimitList(const rules::Ruleset& rules) {
  for (const auto& rule : rules.rules()) {
    first_.push_back(static_cast<std::uint32_t>(entries_.size()));
    const std::size_t count = std::max<std::size_t>(1, rule->limits.size());
    for (std::size_t i = 0; i < count; ++i) {
      std::string name = rule->domain + "/" + rule->name;
      if (i < rule->limits.size() && !rule->limits[i].name.empty()) {
        name += "/" + rule->limits[i].name;
      }
      entries_.push_back({.name = std::move(name), .rule = rule.get(), .limit = i});
    }
  }
}

std::string key_text(const rules::Rule& rule) {
  std::string text;
  for (const rules::KeyPart& part : rule.key) {
    text.append(text.empty() ? "" : ", ").append(part.name);
  }
  return text;
}

std::string rate_text(std::uint64_t limit, Duration period) {
  if (limit == 0) return to_string(Quota::none(period));
  const std::uint64_t most = std::min<std::uint64_t>(limit, Quota::kMaxLimit);
  const Result<Quota> quota =
      Quota::make(per(static_cast<std::int64_t>(most), period).fixed_window());
  if (!quota || limit > most) return std::to_string(limit) + " per period";
  const std::string text = to_string(*quota);
  return text.substr(0, text.find(' '));  // without the algorithm
}

}  // namespace penstock::replay
