#pragma once

#include "penstock/result.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
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

// `*` matches any characters; all others are literal.
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

}  // namespace penstock::rules
