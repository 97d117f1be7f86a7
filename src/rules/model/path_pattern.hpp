#pragma once

#include "base/text_hash.hpp"
#include "penstock/result.hpp"

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::rules {

// Values that patterns of a rule captured, by the number of their name.
inline constexpr std::size_t kMaxCaptures = 16;
struct Captures {
  std::array<std::string_view, kMaxCaptures> values{};  // data() is null where there is none
};

// The non-empty parts between the slashes: "/a//b/" has two.
using PathSegments = std::vector<std::string_view>;
[[nodiscard]] PathSegments split_path(std::string_view path);

// Whether the pattern matches the whole text. `*` matches any characters, or none; all others are
// literal.
[[nodiscard]] bool wildcard_matches(std::string_view pattern, std::string_view text);

// A pattern for paths. In a segment `*` matches any characters; the segment `{name}` matches and
// captures one segment; the segment `**` matches zero or more segments, once per pattern. Empty
// segments of a path are ignored, so /a//b and /a/b/ match /a/b.
class PathPattern {
 public:
  struct Segment {
    enum class Kind : std::uint8_t { Literal, Wildcard, Any, Rest };
    Kind kind = Kind::Literal;
    std::string text{};                  // of Literal and Wildcard
    std::size_t capture = kMaxCaptures;  // of Any with a name: its number
  };

  // Whether {name} captures, or is literal.
  enum class Braces : std::uint8_t { Capture, Literal };
  static constexpr std::size_t kMaxSegments = 64;

  // `names` are those of the rule so far; new ones are appended.
  [[nodiscard]] static Result<PathPattern> parse(std::string_view text, Braces braces,
                                                 std::vector<std::string>& names);

  [[nodiscard]] bool matches(std::span<const std::string_view> path, Captures& captures) const;
  [[nodiscard]] const std::vector<Segment>& segments() const noexcept { return segments_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::vector<Segment> segments_;
  std::size_t rest_ = std::string::npos;  // where `**` is
};

// Numbers of rules, or of patterns; longer lists go to the heap.
using RuleNumbers = boost::container::small_vector<std::uint32_t, 16>;

// Numbers by path pattern. A search walks down the segments of a path, so that patterns which begin
// otherwise cost nothing. What it finds may still fail behind a `**`.
class PathTrie {
 public:
  PathTrie() : nodes_(1) {}

  void add(const PathPattern& pattern, std::uint32_t number);
  void find(std::span<const std::string_view> path, RuleNumbers& found) const;

 private:
  struct Node {
    base::TextMap<std::uint32_t> literal{};
    std::vector<std::pair<std::string, std::uint32_t>> wildcard{};
    std::uint32_t any = 0;  // 0: there is none
    std::vector<std::uint32_t> here{};
    std::vector<std::uint32_t> below{};  // with any rest
  };
  std::uint32_t child(std::uint32_t node, const PathPattern::Segment& segment);
  void walk(std::uint32_t node, std::span<const std::string_view> path, RuleNumbers& found) const;

  std::vector<Node> nodes_;  // the root is the first
};

}  // namespace penstock::rules
