#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::replay {

// Visits the scalars of one JSON object without building a tree: an access log has too many lines
// for that. The path of a member is its names joined by dots ("request.headers.Host"); the elements
// of a list have the path of the list. null is not visited.
//
// Thread-safety: none.
class JsonScanner {
 public:
  class Visitor {
   public:
    Visitor() = default;
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;
    virtual ~Visitor() = default;

    // `value` is a number, true, false, or a string without its quotes, still escaped.
    virtual void on_value(std::string_view path, std::string_view value, bool is_escaped) = 0;
  };

  // Whether the text is one object, and nothing else. Nesting is limited to kMaxDepth.
  [[nodiscard]] bool scan(std::string_view text, Visitor& visitor);

  static constexpr std::size_t kMaxDepth = 32;

 private:
  struct StringToken {
    std::string_view text;
    bool is_escaped = false;
    bool ok = false;
  };

  bool scan_value(std::size_t depth);
  bool scan_object(std::size_t depth);
  bool scan_list(std::size_t depth);
  bool scan_member(std::size_t depth);
  bool scan_literal();
  [[nodiscard]] StringToken take_string();
  bool take(char letter);
  void skip_blanks();

  std::string_view rest_;
  std::string path_;
  Visitor* visitor_ = nullptr;
};

// A JSON string without its quotes, decoded. Unpaired surrogates become U+FFFD.
[[nodiscard]] std::string unescaped_json(std::string_view text);

}  // namespace penstock::replay
