#include "resp/command_reader.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace penstock::resp {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
  return std::nullopt;
}

char escaped(char c) {
  switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return c;
  }
}

// Walks over one line, and writes words behind itself.
class Splitter {
 public:
  explicit Splitter(std::span<char> line) : line_(line) {}

  [[nodiscard]] bool split(std::vector<InlineWord>& words) {
    while (true) {
      while (!at_end() && is_space(line_[in_])) ++in_;
      if (at_end()) return true;
      const std::size_t start = out_;
      if (!take_word()) return false;
      words.push_back({.offset = start, .size = out_ - start});
    }
  }

 private:
  [[nodiscard]] bool at_end() const { return in_ == line_.size(); }
  void put(char c) { line_[out_++] = c; }

  bool take_word() {
    while (!at_end() && !is_space(line_[in_])) {
      const char c = line_[in_++];
      if (c != '"' && c != '\'') {
        put(c);
        continue;
      }
      if (!(c == '"' ? take_double_quoted() : take_single_quoted())) return false;
      return at_end() || is_space(line_[in_]);
    }
    return true;
  }

  bool take_double_quoted() {
    while (!at_end()) {
      const char c = line_[in_++];
      if (c == '"') return true;
      if (c == '\\' && !at_end()) {
        take_escape();
      } else {
        put(c);
      }
    }
    return false;
  }

  void take_escape() {
    const char c = line_[in_++];
    if (c == 'x' && in_ + 1 < line_.size()) {
      const auto high = hex_digit(line_[in_]);
      const auto low = hex_digit(line_[in_ + 1]);
      if (high && low) {
        put(static_cast<char>(*high * 16U + *low));
        in_ += 2;
        return;
      }
    }
    put(escaped(c));
  }

  bool take_single_quoted() {
    while (!at_end()) {
      char c = line_[in_++];
      if (c == '\'') return true;
      if (c == '\\' && !at_end() && line_[in_] == '\'') c = line_[in_++];
      put(c);
    }
    return false;
  }

  std::span<char> line_;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
};

}  // namespace

bool split_inline(std::span<char> line, std::vector<InlineWord>& words) {
  return Splitter(line).split(words);
}
namespace {

// Of a connection at rest.
constexpr std::size_t kSmallRoom = std::size_t{4} << 10U;
// Less is not worth a read.
constexpr std::size_t kLeastRoom = std::size_t{1} << 10U;
// Bytes per read from a client that sends a lot.
constexpr std::size_t kLargeRoom = std::size_t{16} << 10U;
// A line with a length; Redis waits for 64 KB of it.
constexpr std::size_t kLengthLine = 64;
constexpr std::size_t kInlineLine = std::size_t{64} << 10U;

// The usual length of a string: its digits alone, all there. Its size with the line end, 0 for
// anything else.
std::size_t read_short_length(std::string_view bytes, std::size_t& length) {
  constexpr std::size_t kDigits = 5;
  std::size_t value = 0;
  std::size_t i = 0;
  for (; i < bytes.size() && i < kDigits && bytes[i] >= '0' && bytes[i] <= '9'; ++i) {
    value = value * 10 + static_cast<std::size_t>(bytes[i] - '0');
  }
  if (i == 0 || bytes.size() - i < 2 || bytes[i] != '\r' || bytes[i + 1] != '\n') return 0;
  length = value;
  return i + 2;
}

bool read_number(std::string_view text, std::int64_t& number) {
  const std::optional<std::int64_t> read = base::parse_number<std::int64_t>(text);
  number = read.value_or(0);
  return read.has_value();
}

}  // namespace

// Adapts to the client: doubled when a read filled the buffer, halved when it used little of it.
// The buffer of a long command grows as it arrives, not by its announced length.
std::size_t CommandReader::wanted_capacity(std::size_t kept) const {
  if (kept == 0 && capacity_ > kLargeRoom) return kLargeRoom;  // of a long command, which is done
  if (kept == 0 && last_read_ < capacity_ / 4) return std::max(capacity_ / 2, kSmallRoom);
  const bool was_filled = end_ == capacity_;
  std::size_t wanted = was_filled ? std::min(capacity_ * 2, kLargeRoom) : capacity_;
  if (kept + kLeastRoom > capacity_) wanted = std::max(wanted, 2 * kept);
  return std::max({wanted, capacity_, kSmallRoom});
}

std::span<char> CommandReader::prepare() {
  const std::size_t kept = end_ - start_;
  const std::size_t wanted = wanted_capacity(kept);
  if (wanted != capacity_) {
    // NOLINTNEXTLINE(modernize-avoid-c-arrays)
    Bytes other = std::make_unique_for_overwrite<char[]>(wanted);
    if (kept > 0) std::memcpy(other.get(), bytes_.get() + start_, kept);
    bytes_ = std::move(other);
    capacity_ = wanted;
  } else if (kept > 0 && start_ > 0) {
    std::memmove(bytes_.get(), bytes_.get() + start_, kept);
  }
  cursor_ -= start_;
  scanned_ -= std::min(scanned_, start_);
  start_ = 0;
  end_ = kept;
  return {bytes_.get() + end_, capacity_ - end_};
}

CommandReader::Progress CommandReader::next() {
  if (!error_.empty()) return Progress::Broken;
  while (true) {
    Step step = Step::Continue;
    switch (stage_) {
      case Stage::Nothing: step = begin(); break;
      case Stage::Inline: step = read_inline(); break;
      case Stage::Length: step = read_bulk_length(); break;
      case Stage::Bulk: step = read_bulk(); break;
    }
    if (step == Step::Continue) continue;
    if (step == Step::Ready) finish();
    if (step == Step::Broken) return Progress::Broken;
    return step == Step::Ready ? Progress::Ready : Progress::NeedMore;
  }
}

CommandReader::Step CommandReader::begin() {
  if (cursor_ == end_) return Step::NeedMore;
  word_spans_.clear();
  if (bytes_[cursor_] == '*') return read_array_length();
  stage_ = Stage::Inline;
  return Step::Continue;
}

CommandReader::Step CommandReader::take_line(std::size_t longest, const char* too_long,
                                             std::string_view& line) {
  const std::size_t from = std::max(cursor_, scanned_);
  const void* const found = std::memchr(bytes_.get() + from, '\n', end_ - from);
  const std::size_t at =
      found == nullptr ? end_
                       : static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.get());
  if (at - cursor_ > longest) return fail(too_long);
  if (found == nullptr) {
    scanned_ = end_;
    return Step::NeedMore;
  }
  line = {bytes_.get() + cursor_, at - cursor_};
  if (line.ends_with('\r')) line.remove_suffix(1);
  cursor_ = at + 1;
  return Step::Continue;
}

CommandReader::Step CommandReader::read_inline() {
  std::string_view line;
  const std::size_t start = cursor_;
  const Step step = take_line(std::min(kInlineLine, limits_.bytes),
                              "Protocol error: too big inline request", line);
  if (step != Step::Continue) return step;
  std::vector<InlineWord> split;
  if (!split_inline({bytes_.get() + start, line.size()}, split)) {
    return fail("Protocol error: unbalanced quotes in request");
  }
  if (split.size() > limits_.words) return fail("Protocol error: too many words in request");
  stage_ = Stage::Nothing;
  if (split.empty()) {  // a line without words is no command
    start_ = cursor_;
    return Step::Continue;
  }
  for (const InlineWord& word : split) {
    word_spans_.push_back({.offset = start - start_ + word.offset, .size = word.size});
  }
  return Step::Ready;
}

CommandReader::Step CommandReader::read_array_length() {
  std::string_view line;
  const Step step = take_line(kLengthLine, "Protocol error: too big mbulk count string", line);
  if (step != Step::Continue) return step;
  std::int64_t number = 0;
  if (!read_number(line.substr(1), number) || number > static_cast<std::int64_t>(limits_.words)) {
    return fail("Protocol error: invalid multibulk length");
  }
  if (number <= 0) {  // no command either
    start_ = cursor_;
    return Step::Continue;
  }
  missing_ = static_cast<std::size_t>(number);
  stage_ = Stage::Length;
  return Step::Continue;
}

CommandReader::Step CommandReader::read_bulk_length() {
  if (cursor_ == end_) return Step::NeedMore;
  if (bytes_[cursor_] != '$') {
    const char got = bytes_[cursor_];
    const bool shown = got >= ' ' && got <= '~';
    return fail(std::string("Protocol error: expected '$', got '") + (shown ? got : '?') + "'");
  }
  const std::string_view behind(bytes_.get() + cursor_ + 1, end_ - cursor_ - 1);
  if (const std::size_t taken = read_short_length(behind, bulk_size_); taken > 0) [[likely]] {
    cursor_ += 1 + taken;
  } else {
    std::string_view line;
    const Step step = take_line(kLengthLine, "Protocol error: too big bulk count string", line);
    if (step != Step::Continue) return step;
    std::int64_t size = 0;
    if (!read_number(line.substr(1), size) || size < 0) {
      return fail("Protocol error: invalid bulk length");
    }
    bulk_size_ = static_cast<std::size_t>(size);
  }
  if (bulk_size_ > limits_.bytes) return fail("Protocol error: invalid bulk length");
  if (cursor_ - start_ + bulk_size_ > limits_.bytes) {
    return fail("Protocol error: too big request: more than " + std::to_string(limits_.bytes) +
                " bytes");
  }
  stage_ = Stage::Bulk;
  return Step::Continue;
}

CommandReader::Step CommandReader::read_bulk() {
  if (end_ - cursor_ < bulk_size_ + 2) return Step::NeedMore;
  const char* const behind = bytes_.get() + cursor_ + bulk_size_;
  if (behind[0] != '\r' || behind[1] != '\n') {
    return fail("Protocol error: a string is not as long as it says");
  }
  word_spans_.push_back({.offset = cursor_ - start_, .size = bulk_size_});
  cursor_ += bulk_size_ + 2;
  if (--missing_ > 0) {
    stage_ = Stage::Length;
    return Step::Continue;
  }
  stage_ = Stage::Nothing;
  return Step::Ready;
}

CommandReader::Step CommandReader::fail(std::string why) {
  error_ = std::move(why);
  return Step::Broken;
}

void CommandReader::finish() {
  words_.clear();
  for (const WordSpan& place : word_spans_) {
    words_.emplace_back(bytes_.get() + start_ + place.offset, place.size);
  }
  start_ = cursor_;
  ++commands_;
}

}  // namespace penstock::resp
