#include "http/json_writer.hpp"

#include "http/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace penstock::http {
namespace {

bool is_plain(char letter) {
  return letter >= 0x20 && letter < 0x7F && letter != '"' && letter != '\\';
}

}  // namespace

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
