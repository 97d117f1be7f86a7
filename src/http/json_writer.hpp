#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace penstock::http {

// Appends JSON to a text without building a tree, because responses are written for every request.
// The writer adds commas and escapes; the caller does the rest.
class JsonWriter {
 public:
  // REQUIRES: `out` outlives the writer.
  explicit JsonWriter(std::string& out) noexcept : out_(out) {}

  JsonWriter& begin_object() { return punctuate('{'); }
  JsonWriter& begin_array() { return punctuate('['); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& end_array() { return close(']'); }
  // REQUIRES: one of our own names, with nothing to escape.
  JsonWriter& name(std::string_view name);

  // Bytes that are not UTF-8 are replaced.
  JsonWriter& text(std::string_view value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  template <std::integral T>
  JsonWriter& number(T value) {
    separate();
    out_ += std::to_string(value);
    return *this;
  }

 private:
  void separate();
  JsonWriter& punctuate(char opening);
  JsonWriter& close(char closing);

  std::string& out_;
};

}  // namespace penstock::http
