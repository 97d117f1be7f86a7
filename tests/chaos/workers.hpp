#pragma once

#include "base/deadline.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"
#include "penstock/shared_limiter.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace penstock::chaos {

using Time = base::Deadline;
using Span = Time::duration;

// Time beyond its timeout after which a call counts as hanging, on a busy machine.
inline constexpr std::chrono::milliseconds kMargin{500};
// For tests without delays: far more than a call takes on a busy machine.
inline constexpr std::chrono::milliseconds kLongTimeout{500};

// Nothing refills during a test: a token of the bucket takes five minutes, and the window lasts a
// day from the first check.
inline constexpr Quota kBucket = per(100'000, Quota::kMaxPeriod);
inline constexpr Quota kWindow = per_day(1'000'000).anchored_window();
inline constexpr Quota kSmall = per(300, Quota::kMaxPeriod).gcra();  // exhausted during a test

[[nodiscard]] std::string text_of(const Error& error);
[[nodiscard]] std::string text_of(const Result<Decision>& result);
[[nodiscard]] std::string text_of(Span time);  // "12.345 ms"

// REQUIRES: valid options.
[[nodiscard]] SharedLimiter open_limiter(RedisOptions options);
[[nodiscard]] RedisOptions long_timeout_options(std::string url);

// Records the connection events of a limiter.
//
// Thread-safety: any thread. Must outlive the limiter.
class Events {
 public:
  [[nodiscard]] std::function<void(const RedisEvent&)> listener();
  [[nodiscard]] std::string text() const;
  void wait_for(const std::string& words) const;

 private:
  mutable std::mutex mutex_;
  std::string text_;  // guarded by mutex_
};

struct Question {
  std::string key;
  Quota quota;
};

// One call and its result.
struct Answer {
  Time asked{};
  Time answered{};
  std::size_t question = 0;
  bool allowed = false;
  std::optional<Error> error{};

  [[nodiscard]] Span took() const { return answered - asked; }
};

// The results of all workers.
class Tally {
 public:
  void add(std::vector<Answer> answers);
  void sort();  // by the time of the answers

  [[nodiscard]] const std::vector<Answer>& answers() const noexcept { return answers_; }
  [[nodiscard]] std::size_t allowed(std::size_t question) const;
  [[nodiscard]] std::size_t allowed(std::size_t question, Time from, Time until) const;
  [[nodiscard]] std::size_t denied() const;
  [[nodiscard]] std::size_t errors() const;
  [[nodiscard]] std::size_t errors(ErrorCode code) const;
  // Timeout and ConnectionLost: it is unknown whether they were charged.
  [[nodiscard]] std::size_t unknown(std::size_t question) const;
  [[nodiscard]] Span slowest() const;
  // Of all calls made within these times; `share` in percent.
  [[nodiscard]] Span percentile(unsigned share, Time from, Time until) const;
  [[nodiscard]] std::optional<Time> first_success_after(Time moment) const;
  [[nodiscard]] std::optional<Time> last_error() const;
  // "1200 allowed, 3 denied, 2 timeout, 17 unavailable; slowest 10.2 ms", and an example of each
  // error.
  [[nodiscard]] std::string summary() const;

 private:
  [[nodiscard]] std::size_t count(const std::function<bool(const Answer&)>& holds) const;

  std::vector<Answer> answers_{};
};

// Threads that call a limiter repeatedly, each with its own key and a short pause between calls,
// like the workers of a server.
//
// Thread-safety: the owner's thread only, except for its own threads.
class Workers {
 public:
  using Ask = std::function<Result<Decision>(SharedLimiter&, const Question&)>;

  // Two threads for each question. REQUIRES: the limiter outlives the workers.
  Workers(SharedLimiter& limiter, std::vector<Question> questions, Ask ask = {});
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Waits for this many more decisions.
  void wait_for_decisions(std::size_t more);
  void wait_for_errors(std::size_t more);
  void wait_for(std::chrono::milliseconds time);
  // Stops the threads. REQUIRES: called once.
  [[nodiscard]] Tally stop();

 private:
  void work(std::size_t question);
  [[nodiscard]] bool pause();

  SharedLimiter& limiter_;
  std::vector<Question> questions_;
  Ask ask_;
  std::atomic<std::size_t> decisions_ = 0;
  std::atomic<std::size_t> errors_ = 0;
  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool stopping_ = false;  // guarded by mutex_
  Tally tally_;            // guarded by mutex_ until the threads have ended
  std::vector<std::thread> threads_;
};

// A bucket, a window, and a quota that is soon exhausted.
[[nodiscard]] std::vector<Question> default_questions();

// Usage in the store; retries until there is an answer.
[[nodiscard]] std::size_t stored_usage(SharedLimiter& limiter, const Question& question);

// Retries until the limiter answers; returns how long that took.
Span wait_until_works(SharedLimiter& limiter);

// Within these times a server may have answered and lost the data, as a master that fails before
// replication does: the published bound of what a failover may additionally admit.
struct Loss {
  Time from = Time::max();
  Time until = Time::max();
};

// Invariants under any fault: nothing hangs, every admission is charged once, only unknown outcomes
// may be charged additionally, and admissions never exceed the limit, except for lost data.
void expect_consistent(const Tally& tally, const std::vector<Question>& questions,
                       SharedLimiter& limiter, std::chrono::milliseconds timeout, Loss loss = {});
// Checks that no call hangs.
void expect_prompt(const Tally& tally, std::chrono::milliseconds timeout);

// Prints a line to the test log.
void report(const std::string& what, const std::string& measured);
void report_recovery(const std::string& what, const Tally& tally, Time recovered);

}  // namespace penstock::chaos
