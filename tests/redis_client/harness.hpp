#pragma once

#include "base/deadline.hpp"
#include "redis/client.hpp"
#include "redis/hash_slot.hpp"
#include "resp/command.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::redis_client {

// A reply that may arrive later.
using Answer = std::shared_ptr<std::optional<Result<resp::Value>>>;

// The text of a reply or error.
[[nodiscard]] inline std::string text_of(const Result<resp::Value>& reply) {
  if (!reply) return std::string(to_string(reply.error().code)) + ": " + reply.error().detail;
  if (reply->is(resp::Value::Type::Integer)) return std::to_string(reply->integer);
  return reply->text;
}

class AnswerCall : public redis::Call {
 public:
  explicit AnswerCall(Answer answer) : answer_(std::move(answer)) {}
  void on_reply(Result<resp::Value> reply) override {
    EXPECT_FALSE(answer_->has_value()) << "a call was answered twice";
    answer_->emplace(std::move(reply));
  }

 private:
  Answer answer_;
};

// A client with its event loop.
class Harness {
 public:
  explicit Harness(redis::Options options, std::vector<const redis::Script*> scripts = {}) {
    options.on_event = [this](const RedisEvent& event) {
      events.emplace_back(event.text);
      kinds.push_back(event.kind);
    };
    client =
        std::make_unique<redis::Client>(io.get_executor(), std::move(options), std::move(scripts));
    client->start();
  }
  explicit Harness(const std::string& url, std::vector<const redis::Script*> scripts = {})
      : Harness(options_for(url), std::move(scripts)) {}

  [[nodiscard]] static redis::Options options_for(const std::string& url) {
    return {.url = *redis::Url::parse(url),
            .connect_timeout = std::chrono::seconds{1},
            .max_in_flight = 4096,
            .breaker_failures = 5,
            .breaker_min_pause = std::chrono::milliseconds{50},
            .breaker_max_pause = std::chrono::seconds{2},
            .probe_timeout = std::chrono::milliseconds{100}};
  }

  [[nodiscard]] Answer send(redis::Command command, std::chrono::milliseconds budget) {
    auto answer = std::make_shared<std::optional<Result<resp::Value>>>();
    command.deadline = base::deadline_after(budget);
    client->send(std::move(command), std::make_unique<AnswerCall>(answer));
    return answer;
  }
  [[nodiscard]] Answer send(std::initializer_list<std::string_view> words,
                            std::chrono::milliseconds budget = kTestTimeout) {
    const std::uint16_t slot = words.size() > 1 ? redis::hash_slot(words.begin()[1]) : 0;
    return send({.bytes = resp::command(words), .slot = slot}, budget);
  }

  // Runs the loop until `done`, or until the timeout.
  bool run_until(const std::function<bool()>& done,
                 std::chrono::milliseconds limit = kTestTimeout) {
    const base::Deadline end = base::deadline_after(limit);
    while (!done() && base::monotonic_now() < end) {
      io.restart();
      io.run_one_for(std::chrono::milliseconds(10));
    }
    return done();
  }
  [[nodiscard]] Result<resp::Value> wait(const Answer& answer) {
    if (!run_until([&] { return answer->has_value(); })) {
      return Error{ErrorCode::InvalidInput, "never answered"};
    }
    return **answer;
  }
  [[nodiscard]] Result<resp::Value> ask(std::initializer_list<std::string_view> words,
                                        std::chrono::milliseconds budget = kTestTimeout) {
    return wait(send(words, budget));
  }
  // Retries until the reply is not an error.
  [[nodiscard]] bool ask_until_answered(std::initializer_list<std::string_view> words) {
    const base::Deadline end = base::deadline_after(kTestTimeout);
    while (base::monotonic_now() < end) {
      if (ask(words, std::chrono::milliseconds(500))) return true;
      const base::Deadline next = base::deadline_after(std::chrono::milliseconds(5));
      run_until([&] { return base::monotonic_now() >= next; });
    }
    return false;
  }
  [[nodiscard]] bool has_event(std::string_view part) const {
    for (const std::string& event : events) {
      if (event.find(part) != std::string::npos) return true;
    }
    return false;
  }

  static constexpr std::chrono::milliseconds kTestTimeout{10'000};

  boost::asio::io_context io;
  std::vector<std::string> events;
  std::vector<RedisEvent::Kind> kinds;  // of all events
  std::unique_ptr<redis::Client> client;
};

}  // namespace penstock::redis_client
