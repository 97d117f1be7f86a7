#include "http/json_writer.hpp"

#include "http/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace penstock::http {

TextWriter& TextWriter::number(std::uint64_t number) {
  constexpr std::size_t kMostDigits = 20;
  if (static_cast<std::size_t>(end_ - next_) >= kMostDigits) [[likely]] {
    next_ = std::to_chars(next_, end_, number).ptr;
    return *this;
  }
  std::array<char, kMostDigits> digits;  // a short text stays one, and needs no heap
  const char* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  return text({digits.data(), end});
}

void TextWriter::insert(std::size_t place, char letter) {
  need(1);
  char* const here = out_.data() + place;
  std::copy_backward(here, next_, next_ + 1);
  *here = letter;
  ++next_;
}

// As much as there is already, for a text that is used again; but no more than most need.
void TextWriter::grow(std::size_t bytes) {
  constexpr std::size_t kStep = 512;
  const std::size_t written = size();
  out_.resize(std::max(written + bytes, std::min(out_.capacity(), written + kStep)));
  next_ = out_.data() + written;
  end_ = out_.data() + out_.size();
}

namespace {

bool is_plain(char letter) {
  return letter >= 0x20 && letter < 0x7F && letter != '"' && letter != '\\';
}

}  // namespace

JsonWriter& JsonWriter::thousandths(std::uint64_t value) {
  constexpr std::uint64_t kUnit = 1'000;
  number(value / kUnit);
  const std::uint64_t rest = value % kUnit;
  if (rest == 0) return *this;
  out_ += '.';
  out_ += std::to_string(kUnit + rest).substr(1);
  out_.resize(out_.find_last_not_of('0') + 1);
  return *this;
}

// A text ends with its quote, so that the last character is always ours.
void JsonWriter::separate() {
  if (out_.empty()) return;
  const char last = out_.back();
  if (last != '{' && last != '[' && last != ':') out_ += ',';
}

JsonWriter& JsonWriter::punctuate(char opening) {
  separate();
  out_ += opening;
  return *this;
}

JsonWriter& JsonWriter::close(char closing) {
  out_ += closing;
  return *this;
}

JsonWriter& JsonWriter::name(std::string_view name) {
  separate();
  out_ += '"';
  out_ += name;
  out_ += "\":";
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  if (!std::all_of(value.begin(), value.end(), is_plain)) {
    out_ += to_text(Json(value));
    return *this;
  }
  out_ += '"';
  out_ += value;
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

}  // namespace penstock::http
