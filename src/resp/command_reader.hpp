#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::resp {

// A word within the line it came from.
struct InlineWord {
  std::size_t offset;
  std::size_t size;
};

// The words of an inline command. Between quotes spaces are kept; between double ones
// \n \r \t \b \a \xHH stand for bytes, and a backslash keeps the next character, between single
// ones only \' does. Words are put where the line was: they never grow.
//
// False when a quote is not closed, or is closed in the middle of a word.
[[nodiscard]] bool split_inline(std::span<char> line, std::vector<InlineWord>& words);

// Bounds of what a client can make us hold.
struct CommandLimits {
  std::size_t bytes = std::size_t{1} << 20U;  // of one command, with all that surrounds its words
  std::size_t words = 1024;
};

// Reads commands from bytes that arrive in any portions: arrays of strings, as client libraries
// send them, and inline commands, as people type them. Words are returned without a copy.
//
//     read into prepare(), commit(); then next() until it wants more
//
// Errors are those of Redis. After one the reader cannot be used: the stream is out of sync.
//
// Thread-safety: none.
class CommandReader {
 public:
  enum class Progress : std::uint8_t { Ready, NeedMore, Broken };

  explicit CommandReader(CommandLimits limits = {}) noexcept : limits_(limits) {}

  // For commands that have not begun yet.
  void set_limits(CommandLimits limits) noexcept { limits_ = limits; }

  // Where the next bytes go; never empty. Ends the life of words().
  [[nodiscard]] std::span<char> prepare();
  void commit(std::size_t size) noexcept {
    end_ += size;
    last_read_ = size;
  }

  [[nodiscard]] Progress next();
  // The command that is ready, with its name; at least one. Until next() or prepare() is called.
  [[nodiscard]] std::span<const std::string_view> words() const noexcept { return words_; }
  // For the client, when the reader is broken.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

  // Whether a command has begun and is not ready.
  [[nodiscard]] bool is_within_command() const noexcept { return start_ < end_; }
  [[nodiscard]] std::uint64_t commands() const noexcept { return commands_; }
  // Memory that an idle client holds.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  // A word that has arrived, from the start of its command.
  struct WordSpan {
    std::size_t offset;
    std::size_t size;
  };
  // Not cleared. NOLINTNEXTLINE(modernize-avoid-c-arrays)
  using Bytes = std::unique_ptr<char[]>;
  enum class Stage : std::uint8_t { Nothing, Inline, Length, Bulk };
  enum class Step : std::uint8_t { Continue, NeedMore, Broken, Ready };

  [[nodiscard]] std::size_t wanted_capacity(std::size_t kept) const;
  Step begin();
  Step read_inline();
  Step read_array_length();
  Step read_bulk_length();
  Step read_bulk();
  Step fail(std::string why);
  // The bytes of the line at the cursor, which then stands behind it. `longest` without its end.
  Step take_line(std::size_t longest, const char* too_long, std::string_view& line);
  void finish();

  CommandLimits limits_;
  Bytes bytes_{};
  std::size_t capacity_ = 0;
  std::size_t start_ = 0;    // of the command that is read
  std::size_t cursor_ = 0;   // end of the parsed bytes
  std::size_t scanned_ = 0;  // how far a line was looked for its end
  std::size_t end_ = 0;      // of the received bytes
  Stage stage_ = Stage::Nothing;
  std::size_t missing_ = 0;    // words of the command
  std::size_t bulk_size_ = 0;  // of the word that arrives
  std::vector<WordSpan> word_spans_;
  std::vector<std::string_view> words_;
  std::string error_;
  std::uint64_t commands_ = 0;
  std::size_t last_read_ = 0;
};

}  // namespace penstock::resp
