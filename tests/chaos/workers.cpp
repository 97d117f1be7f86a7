#include "chaos/workers.hpp"

#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <sstream>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;

// Pause between calls of a thread: six threads then make some ten thousand calls per second, which
// leaves CPU time for the servers even while calls fail at once.
constexpr std::chrono::microseconds kPause{500};

}  // namespace

std::string text_of(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.detail;
}

std::string text_of(const Result<Decision>& result) {
  if (!result) return text_of(result.error());
  return std::string(to_string(result->outcome())) + ", " + std::to_string(result->remaining()) +
         " of " + std::to_string(result->limit()) + " left";
}

std::string text_of(Span time) {
  std::ostringstream text;
  text.precision(3);
  text << std::fixed << std::chrono::duration<double, std::milli>(time).count() << " ms";
  return text.str();
}

SharedLimiter open_limiter(RedisOptions options) {
  return SharedLimiter::open(std::move(options)).value();
}

RedisOptions long_timeout_options(std::string url) {
  return {.url = std::move(url), .timeout = kLongTimeout};
}

std::function<void(const RedisEvent&)> Events::listener() {
  return [this](const RedisEvent& event) {
    const std::lock_guard lock(mutex_);
    text_.append(event.text).append("\n");
  };
}

std::string Events::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

void Events::wait_for(const std::string& words) const {
  servers::wait_until("the event \"" + words + "\"",
                      [&] { return text().find(words) != std::string::npos; });
}

void Tally::add(std::vector<Answer> answers) {
  std::move(answers.begin(), answers.end(), std::back_inserter(answers_));
}

void Tally::sort() { std::ranges::sort(answers_, {}, &Answer::answered); }

std::size_t Tally::count(const std::function<bool(const Answer&)>& holds) const {
  return static_cast<std::size_t>(std::ranges::count_if(answers_, holds));
}

std::size_t Tally::allowed(std::size_t question) const {
  return allowed(question, Time::min(), Time::max());
}

std::size_t Tally::allowed(std::size_t question, Time from, Time until) const {
  return count([&](const Answer& answer) {
    return answer.question == question && answer.allowed && answer.answered >= from &&
           answer.asked <= until;
  });
}

std::size_t Tally::denied() const {
  return count([](const Answer& answer) { return !answer.allowed && !answer.error; });
}

std::size_t Tally::errors() const {
  return count([](const Answer& answer) { return answer.error.has_value(); });
}

std::size_t Tally::errors(ErrorCode code) const {
  return count([&](const Answer& answer) { return answer.error && answer.error->code == code; });
}

std::size_t Tally::unknown(std::size_t question) const {
  return count([&](const Answer& answer) {
    return answer.question == question && answer.error &&
           (answer.error->code == ErrorCode::Timeout ||
            answer.error->code == ErrorCode::ConnectionLost);
  });
}

Span Tally::slowest() const {
  Span most{};
  for (const Answer& answer : answers_) most = std::max(most, answer.took());
  return most;
}

Span Tally::percentile(unsigned share, Time from, Time until) const {
  std::vector<Span> times;
  for (const Answer& answer : answers_) {
    if (answer.asked >= from && answer.asked <= until) times.push_back(answer.took());
  }
  if (times.empty()) return Span{};
  std::ranges::sort(times);
  return times[(times.size() - 1) * share / 100];
}

std::optional<Time> Tally::first_success_after(Time moment) const {
  for (const Answer& answer : answers_) {
    if (answer.answered >= moment && !answer.error) return answer.answered;
  }
  return std::nullopt;
}

std::optional<Time> Tally::last_error() const {
  std::optional<Time> last;
  for (const Answer& answer : answers_) {
    if (answer.error) last = answer.answered;
  }
  return last;
}

std::string Tally::summary() const {
  std::map<std::string, std::pair<std::size_t, std::string>> kinds;  // count and an example
  for (const Answer& answer : answers_) {
    if (!answer.error) continue;
    auto& [number, example] = kinds[std::string(to_string(answer.error->code))];
    if (number++ == 0) example = answer.error->detail;
  }
  const std::size_t denials = denied();
  std::string text = std::to_string(answers_.size() - denials - errors()) + " allowed, " +
                     std::to_string(denials) + " denied";
  for (const auto& [name, kind] : kinds) {
    text += ", " + std::to_string(kind.first) + " " + name + " (" + kind.second + ")";
  }
  return text + "; slowest " + text_of(slowest());
}

Workers::Workers(SharedLimiter& limiter, std::vector<Question> questions, Ask ask)
    : limiter_(limiter), questions_(std::move(questions)), ask_(std::move(ask)) {
  if (!ask_) {
    ask_ = [](SharedLimiter& asked, const Question& question) {
      return asked.check(question.key, question.quota);
    };
  }
  for (std::size_t i = 0; i < 2 * questions_.size(); ++i) {
    threads_.emplace_back([this, i] { work(i / 2); });
  }
}

Workers::~Workers() {
  if (!threads_.empty()) static_cast<void>(stop());
}

void Workers::work(std::size_t question) {
  std::vector<Answer> heard;
  do {
    Answer answer{.question = question};
    answer.asked = base::monotonic_now();
    const Result<Decision> said = ask_(limiter_, questions_[question]);
    answer.answered = base::monotonic_now();
    if (said) {
      answer.allowed = said->allowed();
      ++decisions_;
    } else {
      answer.error = said.error();
      ++errors_;
    }
    heard.push_back(std::move(answer));
  } while (pause());
  const std::lock_guard lock(mutex_);
  tally_.add(std::move(heard));
}

bool Workers::pause() {
  std::unique_lock lock(mutex_);
  return !stopping_changed_.wait_for(lock, kPause, [this] { return stopping_; });
}

void Workers::wait_for_decisions(std::size_t more) {
  const std::size_t enough = decisions_ + more;
  servers::wait_until("decisions", [&] { return decisions_ >= enough; });
}

void Workers::wait_for_errors(std::size_t more) {
  const std::size_t enough = errors_ + more;
  servers::wait_until("errors", [&] { return errors_ >= enough; });
}

void Workers::wait_for(std::chrono::milliseconds time) {
  const Time end = base::deadline_after(time);
  servers::wait_until("time to pass", [&] { return base::monotonic_now() >= end; });
}

Tally Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopping_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  tally_.sort();
  return std::move(tally_);
}

std::vector<Question> default_questions() {
  return {{"bucket", kBucket}, {"window", kWindow}, {"small", kSmall}};
}

std::size_t stored_usage(SharedLimiter& limiter, const Question& question) {
  std::size_t used = 0;
  servers::wait_until("the usage of \"" + question.key + "\"", [&] {
    const Result<Decision> seen = limiter.peek(question.key, question.quota);
    if (seen) used = seen->limit() - seen->remaining();
    return seen.has_value();
  });
  return used;
}

Span wait_until_works(SharedLimiter& limiter) {
  const Time start = base::monotonic_now();
  servers::wait_until("the limiter to work",
                      [&] { return limiter.peek("anything", kBucket).has_value(); });
  return base::monotonic_now() - start;
}

void expect_prompt(const Tally& tally, std::chrono::milliseconds timeout) {
  EXPECT_LT(tally.slowest(), timeout + kMargin);
}

void expect_consistent(const Tally& tally, const std::vector<Question>& questions,
                       SharedLimiter& limiter, std::chrono::milliseconds timeout, Loss loss) {
  expect_prompt(tally, timeout);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    SCOPED_TRACE("key \"" + questions[i].key + "\"");
    const std::size_t used = stored_usage(limiter, questions[i]);
    const std::size_t lost = loss.from == Time::max() ? 0 : tally.allowed(i, loss.from, loss.until);
    EXPECT_GE(used + lost, tally.allowed(i));
    EXPECT_LE(used, tally.allowed(i) + tally.unknown(i));
    EXPECT_LE(tally.allowed(i), questions[i].quota.capacity() + lost);
    if (used < tally.allowed(i)) {
      report("forgotten of \"" + questions[i].key + "\"",
             std::to_string(tally.allowed(i) - used) + " of " + std::to_string(tally.allowed(i)));
    }
  }
}

void report(const std::string& what, const std::string& measured) {
  std::cout << "[ measured ] " << what << ": " << measured << std::endl;
}

void report_recovery(const std::string& what, const Tally& tally, Time recovered) {
  report(what, tally.summary());
  const std::optional<Time> first = tally.first_success_after(recovered);
  const std::optional<Time> last = tally.last_error();
  if (!first) {
    report(what, "no answer after it was recovered");
    return;
  }
  std::string text = "first answer " + text_of(*first - recovered) + " after it was recovered";
  if (last && *last > recovered) text += ", last error " + text_of(*last - recovered) + " after";
  report(what, text);
}

}  // namespace penstock::chaos
