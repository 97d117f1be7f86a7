#include "bench/http_load.hpp"

#include "bench/admissions.hpp"
#include "bench/http_response.hpp"
#include "bench/key_text.hpp"
#include "bench/measure.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <deque>
#include <memory>

namespace penstock::bench {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

// Keys are drawn before the run, and used round and round.
constexpr std::size_t kDrawn = 1U << 16U;
// How long answers that are still missing are waited for.
constexpr std::chrono::seconds kPatience{2};
// Beyond so many waiting requests the server is hopelessly behind, and memory has an end.
constexpr std::size_t kMostWaiting = 1'000'000;

struct Due {
  Clock::time_point at{};
  std::uint32_t key = 0;
};

// The text of a request; only the key differs from one to the next.
class RequestText {
 public:
  explicit RequestText(const HttpLoad& load) : door_(load.door) {
    const std::string host = "Host: " + load.targets.front().host + "\r\n";
    switch (door_) {
      case HttpDoor::Take:
        head_ = "POST " + (load.path.empty() ? "/v1/take" : load.path) + " HTTP/1.1\r\n" + host +
                "Content-Type: application/json\r\nContent-Length: ";
        body_before_ = R"({"key":")";
        body_after_ = R"(","limit":")" + to_string(load.quota) + "\"}";
        break;
      case HttpDoor::ForwardAuth:
        head_ = "GET " + (load.path.empty() ? "/v1/forward-auth" : load.path) + " HTTP/1.1\r\n" +
                host + "X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /";
        break;
      case HttpDoor::Plain:
        head_ = "GET " + (load.path.empty() ? "/" : load.path) + " HTTP/1.1\r\n" + host + "\r\n";
        break;
    }
  }

  void write(std::uint32_t key, std::string& out) {
    const std::string_view text = key_.write(key);
    out = head_;
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

// The whole run, on one thread.
class Run {
 public:
  Run(const HttpLoad& load, const std::function<void(double)>& on_progress)
      : load_(load),
        on_progress_(on_progress),
        text_(load),
        keys_(draw_keys(load.distribution, load.keys, kDrawn, load.seed)),
        admissions_(load.keys),
        due_timer_(context_),
        progress_timer_(context_) {}

  Result<HttpFigures> go() {
    const Result<void> connected = connect();
    if (!connected) return connected.error();
    const auto cpu_start = process_cpu_time();
    const auto server_start = server_cpu();
    start_ = Clock::now();
    end_ = start_ + load_.time;
    for (const std::unique_ptr<Session>& session : sessions_) idle_.push_back(session.get());
    if (load_.rate == 0) {
      while (!idle_.empty()) send_from(take_idle(), {.at = Clock::now(), .key = next_key()});
    } else {
      send_due();
    }
    show_progress();
    context_.run_until(end_ + kPatience);
    finished_ = std::max(finished_, std::min(end_, Clock::now()));
    return figures(process_cpu_time() - cpu_start, server_start);
  }

 private:
  struct Session {
    explicit Session(asio::io_context& context) : socket(context) {}

    asio::ip::tcp::socket socket;
    asio::ip::tcp::endpoint server{};
    std::string out{};
    std::array<char, 16 * 1024> in{};
    std::size_t filled = 0;
    Due due{};
  };

  Result<void> connect() {
    for (unsigned i = 0; i < load_.connections; ++i) {
      const HttpTarget& target = load_.targets[i % load_.targets.size()];
      auto session = std::make_unique<Session>(context_);
      error_code failed;
      asio::ip::tcp::resolver resolver(context_);
      const auto found = resolver.resolve(target.host, target.port, failed);
      if (!failed) session->server = asio::connect(session->socket, found, failed);
      if (failed) {
        return Error{ErrorCode::Unavailable,
                     target.host + ":" + target.port + ": " + failed.message()};
      }
      session->socket.set_option(asio::ip::tcp::no_delay(true), failed);
      sessions_.push_back(std::move(session));
    }
    return {};
  }

  std::uint32_t next_key() { return keys_[drawn_++ % keys_.size()]; }

  Session* take_idle() {
    Session* session = idle_.back();
    idle_.pop_back();
    return session;
  }

  // Puts what is due by now into the queue, and comes back for the next.
  void send_due() {
    const Clock::time_point now = Clock::now();
    while (true) {
      const auto after = std::chrono::nanoseconds(static_cast<std::int64_t>(
          1e9 * static_cast<double>(scheduled_) / static_cast<double>(load_.rate)));
      const Clock::time_point at = start_ + after;
      if (at >= end_) break;
      if (at > now) {
        due_timer_.expires_at(at);
        due_timer_.async_wait([this](const error_code& failed) {
          if (!failed) send_due();
        });
        break;
      }
      ++scheduled_;
      if (waiting_.size() < kMostWaiting) {
        waiting_.push_back({.at = at, .key = next_key()});
      } else {
        fail("the server is a million requests behind");
      }
    }
    while (!waiting_.empty() && !idle_.empty()) {
      const Due due = waiting_.front();
      waiting_.pop_front();
      send_from(take_idle(), due);
    }
  }

  void send_from(Session* session, Due due) {
    session->due = due;
    text_.write(due.key, session->out);
    asio::async_write(session->socket, asio::buffer(session->out),
                      [this, session](const error_code& failed, std::size_t) {
                        if (failed) return break_down(session, failed.message());
                        read(session);
                      });
  }

  void read(Session* session) {
    session->socket.async_read_some(
        asio::buffer(session->in.data() + session->filled, session->in.size() - session->filled),
        [this, session](const error_code& failed, std::size_t bytes) {
          if (failed) return break_down(session, failed.message());
          session->filled += bytes;
          const HttpRead answer = read_response({session->in.data(), session->filled});
          if (answer.state == ReadState::Malformed || session->filled == session->in.size()) {
            return break_down(session, "an answer that is not HTTP, or too long");
          }
          if (answer.state == ReadState::Incomplete) return read(session);
          session->filled = 0;
          on_answer(session, answer.response);
        });
  }

  void on_answer(Session* session, const HttpResponse& response) {
    finished_ = Clock::now();
    latencies_.push_back(finished_ - session->due.at);
    if (response.status >= 200 && response.status < 300) {
      ++figures_.allowed;
      admissions_.count(session->due.key);
    } else if (response.status == 429 || response.status == 403) {
      ++figures_.denied;
    } else {
      fail("status " + std::to_string(response.status));
    }
    if (response.closes) return reconnect(session);
    next(session);
  }

  void next(Session* session) {
    if (load_.rate == 0) {
      const Clock::time_point now = Clock::now();
      if (now < end_) return send_from(session, {.at = now, .key = next_key()});
    } else if (!waiting_.empty()) {
      const Due due = waiting_.front();
      waiting_.pop_front();
      return send_from(session, due);
    }
    idle_.push_back(session);
    if (Clock::now() >= end_ && idle_.size() == sessions_.size()) context_.stop();
  }

  void break_down(Session* session, const std::string& why) {
    fail(why);
    reconnect(session);
  }

  void reconnect(Session* session) {
    error_code ignored;
    session->socket.close(ignored);
    session->filled = 0;
    if (Clock::now() >= end_) return next(session);
    session->socket.async_connect(session->server, [this, session](const error_code& failed) {
      if (!failed) return next(session);
      fail(failed.message());  // and this connection stays away
    });
  }

  void fail(const std::string& why) {
    ++figures_.failed;
    if (figures_.first_failure.empty()) figures_.first_failure = why;
  }

  void show_progress() {
    const double share = std::chrono::duration<double>(Clock::now() - start_) /
                         std::chrono::duration<double>(load_.time);
    on_progress_(std::min(share, 1.0));
    if (share >= 1) return;
    progress_timer_.expires_after(std::chrono::milliseconds{200});
    progress_timer_.async_wait([this](const error_code& failed) {
      if (!failed) show_progress();
    });
  }

  [[nodiscard]] std::optional<std::chrono::nanoseconds> server_cpu() const {
    if (!load_.server_pid) return std::nullopt;
    return process_cpu_time(*load_.server_pid);
  }

  HttpFigures figures(std::chrono::nanoseconds cpu,
                      std::optional<std::chrono::nanoseconds> server_start) {
    const auto micros = [&](double share) {
      return std::chrono::duration<double, std::micro>(percentile(latencies_, share)).count();
    };
    figures_.answered = latencies_.size();
    // those that were sent and never answered, and those that were never sent
    if (load_.rate > 0 && scheduled_ > figures_.answered + figures_.failed) {
      figures_.failed = scheduled_ - figures_.answered;
      if (figures_.first_failure.empty()) figures_.first_failure = "no answer in time";
    }
    const auto elapsed = finished_ - start_;
    const double answered = std::max<double>(1, static_cast<double>(figures_.answered));
    figures_.requests_per_second =
        static_cast<double>(figures_.answered) / std::chrono::duration<double>(elapsed).count();
    figures_.p50_us = micros(0.5);
    figures_.p90_us = micros(0.9);
    figures_.p99_us = micros(0.99);
    figures_.p999_us = micros(0.999);
    figures_.max_us = micros(1.0);
    figures_.client_cpu_us = std::chrono::duration<double, std::micro>(cpu).count() / answered;
    if (const auto server_end = server_cpu(); server_end && server_start) {
      figures_.server_cpu_us =
          std::chrono::duration<double, std::micro>(*server_end - *server_start).count() / answered;
    }
    if (load_.door == HttpDoor::Take) {
      figures_.over_admitted =
          admissions_.beyond(load_.quota, std::chrono::ceil<Duration>(elapsed));
    }
    return figures_;
  }

  const HttpLoad& load_;
  const std::function<void(double)>& on_progress_;
  RequestText text_;
  std::vector<std::uint32_t> keys_;
  Admissions admissions_;
  asio::io_context context_{1};
  asio::steady_timer due_timer_;
  asio::steady_timer progress_timer_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<Session*> idle_;
  std::deque<Due> waiting_;
  std::vector<std::chrono::nanoseconds> latencies_;
  HttpFigures figures_;
  Clock::time_point start_{};
  Clock::time_point end_{};
  Clock::time_point finished_{};
  std::size_t drawn_ = 0;
  std::uint64_t scheduled_ = 0;
};

}  // namespace

Result<HttpFigures> run_http_load(const HttpLoad& load,
                                  const std::function<void(double)>& on_progress) {
  return Run(load, on_progress).go();
}

}  // namespace penstock::bench
