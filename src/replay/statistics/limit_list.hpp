#pragma once

#include "rules/model/ruleset.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::replay {

// The limits of a Ruleset, numbered. A rule without limits, e.g. an entry of a deny list, has one
// number.
class LimitList {
 public:
  struct Entry {
    std::string name;  // "api/search", "api/search/hourly"
    const rules::Rule* rule = nullptr;
    std::size_t limit = 0;  // which of the rule's

    // Null for a rule without limits.
    [[nodiscard]] const Quota* quota() const {
      return limit < rule->limits.size() ? &rule->limits[limit].quota : nullptr;
    }
    // Denials with a longer pause between them are two incidents: the period of the limit.
    [[nodiscard]] Duration pause() const {
      return quota() == nullptr ? std::chrono::minutes{1} : quota()->period();
    }
  };

  // REQUIRES: the rules outlive it.
  explicit LimitList(const rules::Ruleset& rules);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const Entry& operator[](std::size_t number) const { return entries_[number]; }
  [[nodiscard]] std::uint32_t number_of(const rules::Rule& rule, std::size_t limit) const {
    return first_[rule.index] + static_cast<std::uint32_t>(limit);
  }

 private:
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;  // by the index of the rule
};

// "client_ip", "tenant, path"; empty when all requests share one key.
[[nodiscard]] std::string key_text(const rules::Rule& rule);
// "300/m", "30/90s".
[[nodiscard]] std::string rate_text(std::uint64_t limit, Duration period);

}  // namespace penstock::replay
