#include "bench/http_protocol.hpp"

#include "bench/http_response.hpp"
#include "bench/key_text.hpp"

#include <optional>

namespace penstock::bench {
namespace {

// Answers are short.
constexpr std::size_t kLongestAnswer = std::size_t{16} * 1024;

// The text of a request; only the key differs from one to the next.
class RequestText {
 public:
  explicit RequestText(const HttpQuestion& question) : door_(question.door) {
    const std::string host = "Host: " + question.host + "\r\n";
    const std::string& path = question.path;
    switch (door_) {
      case HttpDoor::Take:
        head_ = "POST " + (path.empty() ? "/v1/take" : path) + " HTTP/1.1\r\n" + host +
                "Content-Type: application/json\r\nContent-Length: ";
        body_before_ = R"({"key":")";
        body_after_ = R"(","limit":")" + to_string(question.quota) + "\"}";
        break;
      case HttpDoor::ForwardAuth:
        head_ = "GET " + (path.empty() ? "/v1/forward-auth" : path) + " HTTP/1.1\r\n" + host +
                "X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /";
        break;
      case HttpDoor::Plain:
        head_ = "GET " + (path.empty() ? "/" : path) + " HTTP/1.1\r\n" + host + "\r\n";
        break;
    }
  }

  void append(std::uint32_t key, std::string& out) {
    const std::string_view text = key_.write(key);
    out += head_;
    if (door_ == HttpDoor::Plain) return;
    if (door_ == HttpDoor::ForwardAuth) {
      out.append(text).append("\r\n\r\n");
      return;
    }
    out += std::to_string(body_before_.size() + text.size() + body_after_.size());
    out.append("\r\n\r\n").append(body_before_).append(text).append(body_after_);
  }

 private:
  HttpDoor door_;
  std::string head_;
  std::string body_before_;
  std::string body_after_;
  KeyText key_;
};

class HttpProtocol final : public WireProtocol {
 public:
  explicit HttpProtocol(const HttpQuestion& question) : text_(question) {}

  void ask(const Due& due) override {
    asked_ = due;
    text_.append(due.key, out_);
  }
  void write_to(std::string& out) override {
    out += out_;
    out_.clear();
  }
  Result<void> read(std::string_view bytes, std::vector<Heard>& heard) override {
    in_ += bytes;
    const HttpRead answer = read_response(in_);
    if (answer.state == ReadState::Malformed || in_.size() > kLongestAnswer || !asked_) {
      return Error{ErrorCode::Protocol, "an answer that is not HTTP, or too long"};
    }
    if (answer.state == ReadState::Incomplete) return {};
    in_.clear();
    heard.push_back(outcome_of(*asked_, answer.response.status));
    asked_.reset();
    is_over_ = answer.response.closes;
    return {};
  }
  [[nodiscard]] std::size_t under_way() const override { return asked_ ? 1 : 0; }
  [[nodiscard]] bool is_over() const override { return is_over_; }

 private:
  static Heard outcome_of(const Due& due, unsigned status) {
    if (status >= 200 && status < 300) return {.due = due, .outcome = Heard::Outcome::Allowed};
    if (status == 429 || status == 403) return {.due = due, .outcome = Heard::Outcome::Denied};
    return {.due = due, .failure = "status " + std::to_string(status)};
  }

  RequestText text_;
  std::optional<Due> asked_;
  std::string out_;
  std::string in_;
  bool is_over_ = false;
};

}  // namespace

std::unique_ptr<WireProtocol> make_http_protocol(const HttpQuestion& question) {
  return std::make_unique<HttpProtocol>(question);
}

}  // namespace penstock::bench
