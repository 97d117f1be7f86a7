#include "bench/resp_protocol.hpp"

#include "bench/key_text.hpp"

#include <array>
#include <charconv>
#include <deque>
#include <optional>

namespace penstock::bench {
namespace {

// The longest reply: five numbers, or an error line.
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kNumbers = 5;

void append_bulk(std::string& out, std::string_view text) {
  out.append("$").append(std::to_string(text.size())).append("\r\n").append(text).append("\r\n");
}

// The first line of `bytes` without its end; empty while incomplete.
std::optional<std::string_view> first_line(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  return bytes.substr(0, end);
}

std::optional<std::int64_t> number_after(char mark, std::string_view line) {
  std::int64_t number = 0;
  if (line.size() < 2 || line.front() != mark) return std::nullopt;
  const char* const end = line.data() + line.size();
  const auto [stop, failure] = std::from_chars(line.data() + 1, end, number);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return number;
}

Error malformed(std::string_view line) {
  return {ErrorCode::Protocol,
          "\"" + std::string(line.substr(0, 80)) + "\" is not a reply to CL.THROTTLE"};
}

// Only the key differs between requests.
class RespProtocol final : public WireProtocol {
 public:
  explicit RespProtocol(const ThrottleLimit& limit) {
    std::string whole;
    const std::string_view key = key_.write(0);
    append_throttle(whole, key, limit);
    const std::size_t at = whole.find(key);
    before_ = whole.substr(0, at);
    after_ = whole.substr(at + key.size());
  }

  void send(const ScheduledRequest& due) override {
    pending_.push_back(due);
    out_.append(before_).append(key_.write(due.key)).append(after_);
  }
  void write_to(std::string& out) override {
    out += out_;
    out_.clear();
  }
  Result<void> read(std::string_view bytes, std::vector<Completion>& completed) override {
    // an incomplete reply waits for the rest; complete ones are read in place
    const bool has_unparsed = !unparsed_.empty();
    if (has_unparsed) unparsed_ += bytes;
    std::string_view left = has_unparsed ? std::string_view(unparsed_) : bytes;
    while (!left.empty()) {
      Result<ThrottleReply> reply = read_throttle_reply(left);
      if (!reply) return reply.error();
      if (reply->bytes == 0) break;
      if (pending_.empty()) return malformed("a reply without a request");
      completed.push_back({.due = pending_.front(),
                           .outcome = reply->outcome,
                           .failure = std::move(reply->failure)});
      pending_.pop_front();
      left.remove_prefix(reply->bytes);
    }
    unparsed_ = std::string(left);
    return {};
  }
  [[nodiscard]] std::size_t in_flight() const override { return pending_.size(); }
  [[nodiscard]] bool is_closing() const override { return false; }

 private:
  KeyText key_;
  std::string before_;
  std::string after_;
  std::string out_;
  std::string unparsed_;
  std::deque<ScheduledRequest> pending_;
};

}  // namespace

Result<ThrottleLimit> ThrottleLimit::of(const Quota& quota) {
  if (!quota.is_bucket()) {
    return Error{ErrorCode::InvalidInput,
                 "CL.THROTTLE needs a bucket, not \"" + to_string(quota) + "\""};
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(quota.period());
  if (seconds != quota.period()) {
    return Error{ErrorCode::InvalidInput,
                 "CL.THROTTLE needs a period of whole seconds, not \"" + to_string(quota) + "\""};
  }
  return ThrottleLimit{.max_burst = std::int64_t{quota.capacity()} - 1,
                       .count = quota.limit(),
                       .seconds = seconds.count()};
}

void append_throttle(std::string& out, std::string_view key, const ThrottleLimit& limit) {
  out += "*5\r\n";
  append_bulk(out, "CL.THROTTLE");
  append_bulk(out, key);
  for (const std::int64_t number : {limit.max_burst, limit.count, limit.seconds}) {
    append_bulk(out, std::to_string(number));
  }
}

Result<ThrottleReply> read_throttle_reply(std::string_view bytes) {
  const std::string_view all = bytes;
  const auto next_line = [&] {
    const auto line = first_line(bytes);
    if (line) bytes.remove_prefix(line->size() + 2);
    return line;
  };
  const auto incomplete = [&]() -> Result<ThrottleReply> {
    if (all.size() > kLongestLine) return malformed(all);
    return ThrottleReply{};
  };
  const auto head = next_line();
  if (!head) return incomplete();
  if (head->starts_with('-')) {
    return ThrottleReply{.bytes = all.size() - bytes.size(),
                         .failure = std::string(head->substr(1))};
  }
  if (number_after('*', *head) != std::int64_t{kNumbers}) return malformed(*head);
  std::array<std::int64_t, kNumbers> numbers{};
  for (std::int64_t& number : numbers) {
    const auto line = next_line();
    if (!line) return incomplete();
    const auto read = number_after(':', *line);
    if (!read) return malformed(*line);
    number = *read;
  }
  if (numbers[0] != 0 && numbers[0] != 1) return malformed(all);
  return ThrottleReply{
      .bytes = all.size() - bytes.size(),
      .outcome = numbers[0] == 0 ? Completion::Outcome::Allowed : Completion::Outcome::Denied};
}

std::unique_ptr<WireProtocol> make_resp_protocol(const ThrottleLimit& limit) {
  return std::make_unique<RespProtocol>(limit);
}

}  // namespace penstock::bench
