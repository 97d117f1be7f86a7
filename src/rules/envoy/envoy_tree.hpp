#pragma once

#include "base/text_hash.hpp"
#include "rules/model/request.hpp"
#include "rules/model/rule.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// Patterns in the order in which they were declared. They are kept by what stands before their
// first '*': a text is compared only with those that begin as it does.
class EnvoyWildcards {
 public:
  // Which one it was: the n-th call to add, from 0.
  using Position = std::size_t;

  Position add(std::string pattern);
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  // The first declared pattern that matches.
  [[nodiscard]] std::optional<Position> find(std::string_view text) const;

 private:
  struct Pattern {
    Position position;
    std::string text;
  };

  std::size_t size_ = 0;
  std::vector<std::size_t> beginning_lengths_;  // that exist, shortest first
  base::TextMap<std::vector<Pattern>> by_beginning_;
};

// What envoyproxy/ratelimit calls a descriptor: what one entry of a request must be, the rule for
// requests that end here, and the descriptors for the entry after it.
class EnvoyNode {
 public:
  // The fields of a descriptor other than its rule and its children.
  struct Traits {
    std::string key;
    std::string value{};  // empty: any
    bool share_threshold = false;
    bool value_to_metric = false;
    bool detailed_metric = false;
  };

  EnvoyNode() = default;  // the root of a domain
  explicit EnvoyNode(Traits traits);

  // Null when this level has that name already.
  EnvoyNode* add(Traits traits);
  void set_rule(const Rule& rule, std::vector<std::string> replaces);

  // "key", or "key_value". Lookup is by this text, so a key "a_b" without a value is the same as
  // the value "b" of the key "a".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] static std::string name_of(const Traits& traits);
  [[nodiscard]] const Traits& traits() const noexcept { return traits_; }
  // Null when requests that end here have no limit.
  [[nodiscard]] const Rule* rule() const noexcept { return rule_; }
  // The name of the rule's limit keys. Empty when there is no rule.
  [[nodiscard]] const std::string& limit_name() const noexcept { return limit_name_; }
  // Names of limits that this one replaces.
  [[nodiscard]] const std::vector<std::string>& replaces() const noexcept { return replaces_; }

  enum class By : std::uint8_t { Nothing, ValueOrName, Wildcard, Key };
  struct Found {
    const EnvoyNode* node = nullptr;
    By by = By::Nothing;
  };
  // The child for an entry: its name, else the first declared wildcard, else the key alone.
  // `scratch` saves an allocation per entry.
  [[nodiscard]] Found child_for(const Attribute& entry, std::string& scratch) const;

 private:
  Traits traits_{};
  std::string name_{};
  const Rule* rule_ = nullptr;
  std::string limit_name_{};
  std::vector<std::string> replaces_{};
  base::TextMap<std::unique_ptr<EnvoyNode>> children_{};
  EnvoyWildcards wildcards_{};
  std::uint64_t lengths_ = 0;  // bit n: a child has a name of n characters, modulo 64
  std::vector<const EnvoyNode*> wildcard_nodes_{};  // by their position among the wildcards
};

// One entry of a request, and the descriptor that was found for it.
struct EnvoyStep {
  const Attribute* entry = nullptr;
  const EnvoyNode* node = nullptr;
  bool shared = false;  // all values that the wildcard matches share one key
};
// What the values that a shared wildcard matches are counted under: the pattern, without the key of
// the entry in front of it. A '*' in the key leaves the pattern whole, and keys that it matches are
// counted apart, as in envoyproxy/ratelimit. REQUIRES: the step is shared.
[[nodiscard]] std::string_view shared_value(const EnvoyStep& step);

// Longer paths are stored on the heap.
using EnvoyMatchPath = boost::container::small_vector<EnvoyStep, 4>;

// The path of the entries of a descriptor from the root; empty when there is no match. There is no
// backtracking: the choice for an entry stands when a later entry has no match.
// The steps point to the entries.
// `scratch` is kept for its memory.
[[nodiscard]] EnvoyMatchPath walk(const EnvoyNode& root, std::span<const Attribute> entries,
                                  std::string& scratch);

// Whether the metric depends on the values in the request.
[[nodiscard]] bool has_dynamic_metric(std::span<const EnvoyStep> match_path);
// How metrics call the limit at the end of the way, in the manner of envoyproxy/ratelimit:
// "domain.key_value.key". REQUIRES: the way is not empty.
[[nodiscard]] std::string metric_of(std::string_view domain, std::span<const EnvoyStep> match_path);
// The same for a limit that travelled with its entries.
[[nodiscard]] std::string metric_of(std::string_view domain, std::span<const Attribute> entries);

}  // namespace penstock::rules
