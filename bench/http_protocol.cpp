#include "bench/http_protocol.hpp"

#include "bench/http_response.hpp"
#include "bench/key_text.hpp"

#include <optional>

namespace penstock::bench {
namespace {

// Responses are short.
constexpr std::size_t kLongestAnswer = std::size_t{16} * 1024;

// Request templates; only the key differs.
class RequestText {
 public:
  explicit RequestText(const HttpRequestSpec& request_spec) : endpoint_(request_spec.endpoint) {
    const std::string host = "Host: " + request_spec.host + "\r\n";
    const std::string& path = request_spec.path;
    switch (endpoint_) {
      case HttpEndpoint::Take:
        head_ = "POST " + (path.empty() ? "/v1/take" : path) + " HTTP/1.1\r\n" + host +
                "Content-Type: application/json\r\nContent-Length: ";
        body_before_ = R"({"key":")";
        body_after_ = R"(","limit":")" + to_string(request_spec.quota) + "\"}";
        break;
      case HttpEndpoint::ForwardAuth:
        head_ = "GET " + (path.empty() ? "/v1/forward-auth" : path) + " HTTP/1.1\r\n" + host +
                "X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /";
        break;
      case HttpEndpoint::Plain:
        head_ = "GET " + (path.empty() ? "/" : path) + " HTTP/1.1\r\n" + host + "\r\n";
        break;
    }
  }

  void append(std::uint32_t key, std::string& out) {
    const std::string_view text = key_.write(key);
    out += head_;
    if (endpoint_ == HttpEndpoint::Plain) return;
    if (endpoint_ == HttpEndpoint::ForwardAuth) {
      out.append(text).append("\r\n\r\n");
      return;
    }
    out += std::to_string(body_before_.size() + text.size() + body_after_.size());
    out.append("\r\n\r\n").append(body_before_).append(text).append(body_after_);
  }

 private:
  HttpEndpoint endpoint_;
  std::string head_;
  std::string body_before_;
  std::string body_after_;
  KeyText key_;
};

class HttpProtocol final : public WireProtocol {
 public:
  explicit HttpProtocol(const HttpRequestSpec& request_spec) : text_(request_spec) {}

  void send(const ScheduledRequest& due) override {
    pending_ = due;
    text_.append(due.key, out_);
  }
  void write_to(std::string& out) override {
    out += out_;
    out_.clear();
  }
  Result<void> read(std::string_view bytes, std::vector<Completion>& completed) override {
    in_ += bytes;
    const HttpRead answer = read_response(in_);
    if (answer.state == ReadState::Malformed || in_.size() > kLongestAnswer || !pending_) {
      return Error{ErrorCode::Protocol, "a response that is not HTTP, or too long"};
    }
    if (answer.state == ReadState::Incomplete) return {};
    in_.clear();
    completed.push_back(outcome_of(*pending_, answer.response.status));
    pending_.reset();
    is_closing_ = answer.response.closes;
    return {};
  }
  [[nodiscard]] std::size_t in_flight() const override { return pending_ ? 1 : 0; }
  [[nodiscard]] bool is_closing() const override { return is_closing_; }

 private:
  static Completion outcome_of(const ScheduledRequest& due, unsigned status) {
    if (status >= 200 && status < 300) return {.due = due, .outcome = Completion::Outcome::Allowed};
    if (status == 429 || status == 403) return {.due = due, .outcome = Completion::Outcome::Denied};
    return {.due = due, .failure = "status " + std::to_string(status)};
  }

  RequestText text_;
  std::optional<ScheduledRequest> pending_;
  std::string out_;
  std::string in_;
  bool is_closing_ = false;
};

}  // namespace

std::unique_ptr<WireProtocol> make_http_protocol(const HttpRequestSpec& request_spec) {
  return std::make_unique<HttpProtocol>(request_spec);
}

}  // namespace penstock::bench
