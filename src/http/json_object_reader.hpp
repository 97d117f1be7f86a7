#pragma once

#include "http/json.hpp"
#include "penstock/check.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// A value for an error message, in quotes and cut to a readable length; of arrays and objects only
// the type.
[[nodiscard]] std::string quote(std::string_view value);
[[nodiscard]] std::string quote_json(const Json& value);

// "250ms", "10s", "5m", "2h", "30d". The error names the place, the text and what was expected.
[[nodiscard]] Result<Duration> read_duration(std::string_view path, std::string_view text,
                                             Duration least, Duration most);

// The meaning of a null member.
enum class OnNull : std::uint8_t {
  Reject,
  Ignore,  // as the JSON of protobuf has it: as if it were absent
};

// The members of one object, taken one after the other. finish() returns the first error, an
// unknown member (one that was not taken) before all others; until then members that are invalid or
// missing read as empty.
//
// REQUIRES: the object outlives the reader and the texts taken from it.
class JsonObjectReader {
 public:
  // `path` is where the object stands: "" for the body, or "checks[3]."
  JsonObjectReader(const Json& object, std::string path, OnNull on_null = OnNull::Reject);

  [[nodiscard]] bool has(std::string_view name) const;

  // Absent when not given.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name);
  [[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view name,
                                                          std::uint64_t most);
  [[nodiscard]] std::optional<Duration> duration(std::string_view name, Duration least,
                                                 Duration most);
  // "cost", up to the largest integer that JSON numbers hold in every language.
  [[nodiscard]] std::optional<Cost> cost();
  // "limit" with "burst" and "algorithm" beside it.
  [[nodiscard]] std::optional<Quota> quota();
  [[nodiscard]] const Json* object(std::string_view name);
  [[nodiscard]] const Json* array(std::string_view name, std::size_t most);
  [[nodiscard]] const Json* any(std::string_view name);

  // A text that must be there and not be empty.
  [[nodiscard]] std::string_view required_text(std::string_view name, std::size_t most);

  void add_error(std::string_view name, std::string_view what);
  // REQUIRES: all members that may be there were taken.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] std::string path_of(std::string_view name) const;

 private:
  const Json* take(std::string_view name);
  [[nodiscard]] std::optional<std::string> unknown_member() const;

  const Json& object_;
  std::string path_;
  OnNull on_null_;
  std::vector<std::string_view> known_;
  std::optional<std::string> error_;
};

inline constexpr std::uint64_t kMaxCost = 4'294'967'295;

// The parts of a quota as texts and numbers, common to HTTP queries and bodies.
struct QuotaText {
  std::string_view limit;
  std::optional<std::int64_t> burst{};
  std::optional<std::string_view> algorithm{};
};
// The error begins with the name of the part.
[[nodiscard]] Result<Quota> read_quota(const QuotaText& text);

}  // namespace penstock::http
