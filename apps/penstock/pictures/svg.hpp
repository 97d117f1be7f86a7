#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::app {

// A drawing as SVG text: integer coordinates, no scripts, colours for light and dark screens. The
// classes of its style sheet (svg.cpp) are the vocabulary of all pictures, so that "denied" looks
// the same everywhere.
class Svg {
 public:
  struct Box {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
  };
  enum class Anchor : std::uint8_t { Start, Middle, End };

  // `title` and `description` are for screen readers; the title is also drawn.
  Svg(int width, int height, std::string_view title, std::string_view description);

  void rect(Box box, std::string_view style, int radius = 0);
  void line(int x1, int y1, int x2, int y2, std::string_view style);
  void circle(int x, int y, int radius, std::string_view style);
  // A cross in a circle of this radius.
  void cross(int x, int y, int radius, std::string_view style);
  // `data` in the syntax of the attribute d.
  void path(std::string_view data, std::string_view style);
  void text(int x, int y, std::string_view text, std::string_view style = "text",
            Anchor anchor = Anchor::Start);
  // A line with an arrow head at its end, horizontal or vertical.
  void arrow(int x1, int y1, int x2, int y2, std::string_view style = "edge");

  [[nodiscard]] std::string finish() const;

 private:
  std::string head_;
  std::string body_;
};

}  // namespace penstock::app
