#pragma once

#include "penstock/result.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// What patterns of a rule have taken out of a request, by the number of their name.
inline constexpr std::size_t kMaxCaptures = 16;
struct Captures {
  std::array<std::string_view, kMaxCaptures> values{};  // data() is null where there is none
};

// The parts between the slashes, without empty ones: "/a//b/" has two.
using PathSegments = std::vector<std::string_view>;
[[nodiscard]] PathSegments split_path(std::string_view path);

// `*` stands for any characters, the rest for itself.
[[nodiscard]] bool wildcard_matches(std::string_view pattern, std::string_view text);

// A pattern for paths. In a segment `*` stands for any characters; the segment `{name}` for a whole
// segment, which is remembered; the segment `**` for any number of segments, none too, once per
// pattern. Empty segments of a path do not count, so /a//b and /a/b/ match /a/b.
class PathPattern {
 public:
  struct Segment {
    enum class Kind : std::uint8_t { Literal, Wildcard, Any, Rest };
    Kind kind = Kind::Literal;
    std::string text{};                  // of Literal and Wildcard
    std::size_t capture = kMaxCaptures;  // of Any with a name: its number
  };

  // Whether {name} is special, or a name like any other.
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
