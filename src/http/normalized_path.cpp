#include "http/normalized_path.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace penstock::http {
namespace {

using rules::PathSettings;

constexpr std::string_view kEncodedSlash = "%2F";
constexpr std::string_view kEncodedBackslash = "%5C";
constexpr std::string_view kEncodedSemicolon = "%3B";

std::optional<unsigned> digit_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

// The byte of "%41" at this place.
std::optional<unsigned char> escaped_byte(std::string_view text, std::size_t at) noexcept {
  if (text.size() - at < 3) return std::nullopt;
  const auto high = digit_value(text[at + 1]);
  const auto low = digit_value(text[at + 2]);
  if (!high || !low) return std::nullopt;
  return static_cast<unsigned char>(*high * 16 + *low);
}

bool is_unreserved(unsigned char byte) noexcept {
  const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return is_letter || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
         byte == '~';
}

// Most paths: nothing in them that normalization would change or reject.
bool is_plain(std::string_view path) noexcept {
  return path.starts_with('/') && path.find("//") == std::string_view::npos &&
         path.find("/.") == std::string_view::npos &&
         std::all_of(path.begin(), path.end(), [](char letter) {
           return letter == '/' || is_unreserved(static_cast<unsigned char>(letter));
         });
}

void append_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

// Brings every character of the path into its one form.
class Spelling {
 public:
  explicit Spelling(const PathSettings& settings) : settings_(settings) {}

  [[nodiscard]] std::optional<HttpError> spell(std::string_view path) {
    text_.reserve(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
      auto byte = static_cast<unsigned char>(path[i]);
      const bool is_escaped = byte == '%';
      if (is_escaped) {
        const auto escaped = escaped_byte(path, i);
        if (!escaped) return HttpError{400, "the path has a malformed percent-encoding"};
        byte = *escaped;
        i += 2;
      }
      if (const auto refusal = add(byte, is_escaped)) return refusal;
    }
    return std::nullopt;
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::optional<HttpError> add(unsigned char byte, bool is_escaped) {
    if (byte < 0x20 || byte == 0x7F || (byte == ' ' && !is_escaped)) {
      return HttpError{400, "the path has a control character"};
    }
    if (byte == '\\') return add_backslash();
    if (byte == '/' && is_escaped) return add_escaped_slash();
    if (is_unreserved(byte) || (!is_escaped && byte < 0x80)) {
      text_ += static_cast<char>(byte);
    } else {
      append_escaped(text_, byte);
    }
    return std::nullopt;
  }
  std::optional<HttpError> add_backslash() {
    using Backslashes = PathSettings::Backslashes;
    if (settings_.backslashes == Backslashes::Reject) {
      return HttpError{400, "the path has a backslash (see paths.backslashes)"};
    }
    text_ += settings_.backslashes == Backslashes::Keep ? kEncodedBackslash : "/";
    return std::nullopt;
  }
  std::optional<HttpError> add_escaped_slash() {
    using Escaped = PathSettings::EscapedSlashes;
    if (settings_.escaped_slashes == Escaped::Reject) {
      return HttpError{400, "the path has an encoded slash (see paths.escaped_slashes)"};
    }
    text_ += settings_.escaped_slashes == Escaped::Keep ? kEncodedSlash : "/";
    return std::nullopt;
  }

  const PathSettings& settings_;
  std::string text_{};
};

// "login;x=1" as "login". Some servers look for parameters after decoding, so both spellings count.
std::string_view without_parameters(std::string_view segment) noexcept {
  return segment.substr(0, std::min(segment.find(';'), segment.find(kEncodedSemicolon)));
}

// Decoded, it would be taken for something else.
bool stays_escaped(unsigned char byte) noexcept {
  return byte == '/' || byte == '\\' || byte == '%';
}

void append_decoded(std::string& out, std::string_view segment) {
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const auto byte = segment[i] == '%' ? escaped_byte(segment, i) : std::nullopt;
    if (!byte || stays_escaped(*byte)) {
      out += segment[i];
      continue;
    }
    out += static_cast<char>(*byte);
    i += 2;
  }
}

struct Segments {
  std::vector<std::string_view> kept{};
  bool ends_open = false;  // a slash follows the last one
};

// Resolves "." and "..".
std::variant<Segments, HttpError> resolve(std::string_view text, const PathSettings& settings) {
  Segments out;
  while (!text.empty()) {  // begins with a slash
    text.remove_prefix(1);
    const std::string_view segment = text.substr(0, text.find('/'));
    text.remove_prefix(segment.size());
    const std::string_view name = without_parameters(segment);
    const bool is_dots = name == "." || name == "..";
    if (name.size() != segment.size()) {
      if (settings.parameters == PathSettings::Parameters::Reject) {
        return HttpError{400, "the path has parameters (see paths.parameters)"};
      }
      if (is_dots) return HttpError{400, "the path has a dot segment with parameters"};
    }
    out.ends_open = segment.empty() || is_dots;
    if (segment == "..") {
      if (out.kept.empty()) return HttpError{400, "the path leads above the root"};
      out.kept.pop_back();
    } else if (!is_dots && !(segment.empty() && (settings.merge_slashes || text.empty()))) {
      out.kept.push_back(segment);
    }
  }
  return out;
}

std::string joined(const Segments& segments, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const std::string_view segment : segments.kept) out.append("/").append(segment);
  if (segments.ends_open || out.empty()) out += '/';
  return out;
}

std::string matched_of(const Segments& segments, const PathSettings& settings) {
  const bool ignores = settings.parameters == PathSettings::Parameters::Ignore;
  std::string out;
  for (const std::string_view segment : segments.kept) {
    const std::string_view name = ignores ? without_parameters(segment) : segment;
    if (name.empty() && settings.merge_slashes) continue;
    out += '/';
    append_decoded(out, name);
  }
  if (segments.ends_open || out.empty()) out += '/';
  const bool folds = settings.letter_case == PathSettings::LetterCase::Insensitive;
  return folds ? base::lower_case(out) : out;
}

}  // namespace

std::variant<NormalizedPath, HttpError> normalized_path(std::string_view path,
                                                        const PathSettings& settings) {
  if (path.empty()) path = "/";
  if (path == "*") return NormalizedPath{.forwarded = "*", .matched = "*"};
  const bool folds = settings.letter_case == PathSettings::LetterCase::Insensitive;
  if (is_plain(path)) {
    std::string text(path);
    return NormalizedPath{.forwarded = text, .matched = folds ? base::lower_case(text) : text};
  }
  if (path.front() != '/') return HttpError{400, "the path does not begin with a slash"};
  Spelling spelling(settings);
  if (const auto refusal = spelling.spell(path)) return *refusal;
  const auto resolved = resolve(spelling.text(), settings);
  if (const auto* refusal = std::get_if<HttpError>(&resolved)) return *refusal;
  const auto& segments = std::get<Segments>(resolved);
  return NormalizedPath{.forwarded = joined(segments, path),
                        .matched = matched_of(segments, settings)};
}

}  // namespace penstock::http
