#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace penstock::resp {

// The protocol version of a client.
enum class Version : std::uint8_t { Two = 2, Three = 3 };

// Appends replies to a text. For RESP2 clients, types of RESP3 are written as Redis does: a map as
// an array of names and values, a double as a string, a Boolean as an integer.
//
// Thread-safety: none. REQUIRES: the text outlives the writer.
class ReplyWriter {
 public:
  ReplyWriter(std::string& out, Version version) noexcept : out_(out), version_(version) {}

  [[nodiscard]] Version version() const noexcept { return version_; }

  // Line ends in the text become spaces.
  void simple(std::string_view text) { line('+', text); }
  // "ERR what is wrong"; the first word is the code.
  void error(std::string_view text) { line('-', text); }
  void integer(std::int64_t number) { header(':', number); }
  void bulk(std::string_view text);
  void null();
  // `text` is the number as people write it.
  void number(std::string_view text);
  // Followed by its elements, or by as many names with a value each.
  void array(std::size_t size) { header('*', static_cast<std::int64_t>(size)); }
  void map(std::size_t pairs);

  // An array of integers, in one go.
  void integers(std::span<const std::int64_t> numbers);

 private:
  void line(char kind, std::string_view text);
  void header(char kind, std::int64_t number);

  std::string& out_;
  Version version_;
};

}  // namespace penstock::resp
