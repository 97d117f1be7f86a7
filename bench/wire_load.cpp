#include "bench/wire_load.hpp"

#include "bench/admissions.hpp"
#include "bench/latency_histogram.hpp"
#include "bench/measure.hpp"
#include "bench/request_schedule.hpp"
#include "bench/wire_connection.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <deque>

namespace penstock::bench {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

// Keys are drawn before the run and reused.
constexpr std::size_t kDrawn = 1U << 16U;
// How long to wait for missing responses.
constexpr std::chrono::seconds kDrainTimeout{2};
// Bounds the queue of due requests.
constexpr std::size_t kMaxWaiting = 1'000'000;

// The whole run, on one thread.
class Run final : public WireConnection::Owner {
 public:
  Run(const WireLoad& load, const MakeProtocol& protocol,
      const std::function<void(double)>& on_progress)
      : load_(load),
        protocol_(protocol),
        on_progress_(on_progress),
        keys_(draw_keys(load.distribution, load.keys, kDrawn, load.seed)),
        admissions_(load.keys),
        due_timer_(context_),
        progress_timer_(context_) {}

  Result<WireFigures> go() {
    const Result<void> connected = connect();
    if (!connected) return connected.error();
    const auto cpu_start = process_cpu_time();
    const auto server_start = server_cpu();
    start_ = Clock::now();
    end_ = start_ + load_.time;
    if (load_.rate > 0) schedule_.emplace(load_.rate, start_, end_);
    for (const auto& connection : connections_) {
      connection->start();
      on_capacity(*connection);
    }
    if (schedule_) send_due();
    show_progress();
    context_.run_until(end_ + kDrainTimeout);
    finished_ = std::max(finished_, std::min(end_, Clock::now()));
    return figures(process_cpu_time() - cpu_start, server_start);
  }

 private:
  Result<void> connect() {
    for (unsigned i = 0; i < load_.connections; ++i) {
      connections_.push_back(std::make_unique<WireConnection>(context_, *this, protocol_));
      Result<void> done = connections_.back()->connect(load_.targets[i % load_.targets.size()]);
      if (!done) return done;
    }
    return {};
  }

  std::uint32_t next_key() { return keys_[drawn_++ % keys_.size()]; }

  [[nodiscard]] bool has_capacity(const WireConnection& connection) const {
    return connection.is_connected() && connection.in_flight() < load_.depth;
  }

  void on_capacity(WireConnection& connection) override {
    const Clock::time_point now = Clock::now();
    if (schedule_) {
      list(connection);
      send_waiting();
    } else if (now < end_) {
      while (has_capacity(connection)) connection.send({.at = now, .key = next_key()});
    }
    if (now >= end_) stop_when_done();
  }

  // Queues due requests and rearms the timer.
  void send_due() {
    const Clock::time_point now = Clock::now();
    std::optional<Clock::time_point> at = schedule_->next();
    for (; at && *at <= now; at = schedule_->next()) {
      schedule_->advance();
      if (waiting_.size() < kMaxWaiting) {
        waiting_.push_back({.at = *at, .key = next_key()});
      } else {
        fail("the server is a million requests behind", 1);
      }
    }
    send_waiting();
    if (!at) {
      if (now >= end_) stop_when_done();
      return;
    }
    due_timer_.expires_at(*at);
    due_timer_.async_wait([this](const error_code& failed) {
      if (!failed) send_due();
    });
  }

  void list(WireConnection& connection) {
    if (connection.is_listed || !has_capacity(connection)) return;
    connection.is_listed = true;
    with_room_.push_back(&connection);
  }

  // Round robin.
  void send_waiting() {
    while (!waiting_.empty() && !with_room_.empty()) {
      WireConnection& connection = *with_room_.front();
      with_room_.pop_front();
      connection.is_listed = false;
      if (!has_capacity(connection)) continue;
      connection.send(waiting_.front());
      waiting_.pop_front();
      list(connection);
    }
  }

  void on_completed(Completion& completed) override {
    finished_ = Clock::now();
    switch (completed.outcome) {
      case Completion::Outcome::Allowed:
        ++figures_.allowed;
        admissions_.count(completed.due.key);
        break;
      case Completion::Outcome::Denied: ++figures_.denied; break;
      case Completion::Outcome::Failed: fail(completed.failure, 1); break;
    }
    latencies_.add(finished_ - completed.due.at);
  }

  void on_lost(std::size_t requests, const std::string& why) override {
    fail(why, requests);
    if (Clock::now() >= end_) stop_when_done();
  }

  void stop_when_done() {
    for (const auto& connection : connections_) connection->stop_reconnecting();
    const bool is_idle = waiting_.empty() && !(schedule_ && schedule_->next()) &&
                         std::all_of(connections_.begin(), connections_.end(),
                                     [](const auto& one) { return one->in_flight() == 0; });
    if (is_idle) context_.stop();
  }

  void fail(const std::string& why, std::uint64_t requests) {
    figures_.failed += requests;
    if (figures_.first_failure.empty()) figures_.first_failure = why;
  }

  void show_progress() {
    const double share = std::chrono::duration<double>(Clock::now() - start_) /
                         std::chrono::duration<double>(load_.time);
    on_progress_(std::min(share, 1.0));
    if (share >= 1) return stop_when_done();
    progress_timer_.expires_after(std::chrono::milliseconds{200});
    progress_timer_.async_wait([this](const error_code& failed) {
      if (!failed) show_progress();
    });
  }

  [[nodiscard]] std::optional<std::chrono::nanoseconds> server_cpu() const {
    if (!load_.server_pid) return std::nullopt;
    return process_cpu_time(*load_.server_pid);
  }

  // Requests without a response, sent or not.
  [[nodiscard]] std::uint64_t unanswered() const {
    std::uint64_t missing = waiting_.size();
    for (const auto& connection : connections_) missing += connection->in_flight();
    return missing;
  }

  WireFigures figures(std::chrono::nanoseconds cpu,
                      std::optional<std::chrono::nanoseconds> server_start) {
    using Micros = std::chrono::duration<double, std::micro>;
    const auto micros = [&](double share) { return Micros(latencies_.percentile(share)).count(); };
    figures_.answered = latencies_.count();
    if (const std::uint64_t missing = unanswered(); missing > 0) {
      fail("no response in time", missing);
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
    figures_.client_cpu_us = Micros(cpu).count() / answered;
    if (const auto server_end = server_cpu(); server_end && server_start) {
      figures_.server_cpu_us = Micros(*server_end - *server_start).count() / answered;
    }
    if (load_.quota) {
      figures_.over_admitted =
          admissions_.beyond(*load_.quota, std::chrono::ceil<Duration>(elapsed));
    }
    return figures_;
  }

  const WireLoad& load_;
  const MakeProtocol& protocol_;
  const std::function<void(double)>& on_progress_;
  std::vector<std::uint32_t> keys_;
  Admissions admissions_;
  asio::io_context context_{1};
  asio::steady_timer due_timer_;
  asio::steady_timer progress_timer_;
  std::vector<std::unique_ptr<WireConnection>> connections_;
  std::deque<WireConnection*> with_room_;
  std::deque<ScheduledRequest> waiting_;
  std::optional<RequestSchedule> schedule_;
  LatencyHistogram latencies_;
  WireFigures figures_;
  Clock::time_point start_{};
  Clock::time_point end_{};
  Clock::time_point finished_{};
  std::size_t drawn_ = 0;
};

}  // namespace

Result<WireFigures> run_wire_load(const WireLoad& load, const MakeProtocol& protocol,
                                  const std::function<void(double)>& on_progress) {
  return std::make_unique<Run>(load, protocol, on_progress)->go();
}

}  // namespace penstock::bench
