#include "apps/penstock/pictures/svg.hpp"

namespace penstock::app {
namespace {

constexpr std::string_view kStyle = R"(<style>
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328}
.title{font-size:17px;font-weight:600}.strong{font-weight:600}.small{font-size:11px}.muted{font-size:12px;fill:#59636e}
.page{fill:#ffffff}.box{fill:#f6f8fa;stroke:#8c959f}.part{fill:#ffffff;stroke:#8c959f}.store{fill:#ddf4ff;stroke:#0969da}
.axis{stroke:#8c959f}.grid{stroke:#d1d9e0}.edge{stroke:#59636e;fill:none}.head{fill:#59636e}
.window{fill:#818b981f}.boundary{stroke:#59636e;stroke-dasharray:4 3}.limit{stroke:#bc4c00;stroke-dasharray:6 3}
.level{fill:#54aeff55;stroke:#0969da}.call{stroke:#8250df}.outage{fill:#cf222e1a}
.admitted{fill:#1a7f37}.local{fill:#0969da}.denied{fill:none;stroke:#cf222e;stroke-width:1.5}.span{stroke:#bc4c00;stroke-width:2}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.muted{fill:#9198a1}.page{fill:#0d1117}.box{fill:#151b23;stroke:#656c76}.part{fill:#0d1117;stroke:#656c76}
.store{fill:#121d2f;stroke:#4493f8}.axis{stroke:#656c76}.grid{stroke:#2a313c}.edge{stroke:#9198a1}.head{fill:#9198a1}
.window{fill:#656c7633}.boundary{stroke:#9198a1}.limit{stroke:#db6d28}.level{fill:#1f6feb55;stroke:#4493f8}
.call{stroke:#ab7df8}.outage{fill:#f851492b}.admitted{fill:#3fb950}.local{fill:#4493f8}.denied{stroke:#f85149}.span{stroke:#db6d28}
}
</style>
)";

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += letter;
    }
  }
  return result;
}

std::string attribute(std::string_view name, int value) {
  return " " + std::string(name) + "=\"" + std::to_string(value) + "\"";
}

std::string class_attribute(std::string_view style) {
  return " class=\"" + std::string(style) + "\"";
}

}  // namespace

Svg::Svg(int width, int height, std::string_view title, std::string_view description) {
  const std::string size = std::to_string(width) + " " + std::to_string(height);
  head_ = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )" + size + "\"" +
          attribute("width", width) + attribute("height", height) +
          " role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">" + xml_text(title) +
          "</title>\n<desc id=\"desc\">" + xml_text(description) + "</desc>\n";
  rect({.width = width, .height = height}, "page");
  text(20, 30, title, "title");
}

void Svg::rect(Box box, std::string_view style, int radius) {
  body_ += "<rect" + class_attribute(style) + attribute("x", box.x) + attribute("y", box.y) +
           attribute("width", box.width) + attribute("height", box.height) +
           (radius > 0 ? attribute("rx", radius) : "") + "/>\n";
}

void Svg::line(int x1, int y1, int x2, int y2, std::string_view style) {
  body_ += "<line" + class_attribute(style) + attribute("x1", x1) + attribute("y1", y1) +
           attribute("x2", x2) + attribute("y2", y2) + "/>\n";
}

void Svg::circle(int x, int y, int radius, std::string_view style) {
  body_ += "<circle" + class_attribute(style) + attribute("cx", x) + attribute("cy", y) +
           attribute("r", radius) + "/>\n";
}

void Svg::cross(int x, int y, int radius, std::string_view style) {
  const std::string size = std::to_string(2 * radius);
  const std::string left = std::to_string(x - radius);
  path("M" + left + " " + std::to_string(y - radius) + "l" + size + " " + size + "M" + left + " " +
           std::to_string(y + radius) + "l" + size + " -" + size,
       style);
}

void Svg::path(std::string_view data, std::string_view style) {
  body_ += "<path" + class_attribute(style) + " d=\"" + std::string(data) + "\"/>\n";
}

void Svg::text(int x, int y, std::string_view text, std::string_view style, Anchor anchor) {
  body_ += "<text" + class_attribute(style) + attribute("x", x) + attribute("y", y);
  if (anchor == Anchor::Middle) body_ += " text-anchor=\"middle\"";
  if (anchor == Anchor::End) body_ += " text-anchor=\"end\"";
  body_ += ">" + xml_text(text) + "</text>\n";
}

void Svg::arrow(int x1, int y1, int x2, int y2, std::string_view style) {
  line(x1, y1, x2, y2, style);
  const std::string tip = "M" + std::to_string(x2) + " " + std::to_string(y2);
  if (x1 == x2) {
    path(tip + (y2 > y1 ? "l-4 -8h8z" : "l-4 8h8z"), "head");
  } else {
    path(tip + (x2 > x1 ? "l-8 -4v8z" : "l8 -4v8z"), "head");
  }
}

std::string Svg::finish() const { return head_ + std::string(kStyle) + body_ + "</svg>\n"; }

}  // namespace penstock::app
