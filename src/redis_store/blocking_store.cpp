#include "redis_store/blocking_store.hpp"

#include "base/check.hpp"
#include "core/decide_all.hpp"
#include "redis_store/requests.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <mutex>
#include <semaphore>
#include <thread>

namespace penstock::redis_store {

// The thread of the store and its job queue. Jobs gather while the thread is busy, so that one
// wake-up takes all of them.
class BlockingStore::Loop {
 public:
  using Job = std::function<void(CommandExecutor&)>;

  Loop(redis::Options options, std::size_t max_waiting)
      : work_(boost::asio::make_work_guard(context_)),
        store_(std::make_unique<CommandExecutor>(context_.get_executor(), std::move(options),
                                                 max_waiting)),
        fail_fast_(store_->client().fail_fast()),
        thread_([this] { run(); }) {}

  // Out of memory for a job ends the process, as anywhere else.
  ~Loop() {  // NOLINT(bugprone-exception-escape)
    boost::asio::post(context_, [this] {
      store_.reset();
      work_.reset();
      context_.stop();
    });
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void post(Job job) {
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      was_empty = jobs_.empty();
      jobs_.push_back(std::move(job));
    }
    if (was_empty) boost::asio::post(context_, [this] { take_jobs(); });
  }

  [[nodiscard]] std::optional<Error> fail_now() { return fail_fast_->fail_now(); }

 private:
  void run() {
    store_->start();
    context_.run();
  }

  void take_jobs() {
    taken_.clear();
    {
      const std::lock_guard lock(mutex_);
      taken_.swap(jobs_);
    }
    if (store_ == nullptr) return;
    store_->at_once([this] {
      for (const Job& job : taken_) job(*store_);
    });
  }

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::mutex mutex_;
  std::vector<Job> jobs_;  // guarded by mutex_
  // Accessed only by the thread:
  std::vector<Job> taken_;
  std::unique_ptr<CommandExecutor> store_;
  // Accessed by all:
  std::shared_ptr<redis::FailFast> fail_fast_;
  std::thread thread_;
};

BlockingStore::BlockingStore(const RedisOptions& options, redis::Options client_options)
    : layout_(options.key_prefix),
      timeout_(options.timeout),
      loop_(std::make_unique<Loop>(std::move(client_options), options.max_waiting)) {
  loop_->post(
      [channel = layout_.changes()](CommandExecutor& store) { store.announce_on(channel); });
}

BlockingStore::~BlockingStore() = default;

template <class Answer, class Start>
Answer BlockingStore::wait_for(Start start) {
  std::optional<Answer> answer;
  std::binary_semaphore answered{0};
  loop_->post([&](CommandExecutor& store) {
    start(store, [&](Answer said) {
      answer.emplace(std::move(said));
      answered.release();
    });
  });
  answered.acquire();
  return *std::move(answer);
}

template <class Value, class Start>
Result<Value> BlockingStore::ask(Start start) {
  if (std::optional<Error> refused = loop_->fail_now()) return *std::move(refused);
  const base::Deadline until = deadline();
  return wait_for<Result<Value>>(
      [&](CommandExecutor& store, auto answer) { start(store, until, std::move(answer)); });
}

namespace {

// Collects the answers to several calls, on the store's thread, and wakes the caller.
template <class T>
class Answers {
 public:
  explicit Answers(std::span<Result<T>> results) : results_(results), open_(results.size()) {}

  void set(std::size_t question, Result<T> answer) {
    results_[question] = std::move(answer);
    if (--open_ == 0) all_answered_.release();
  }
  void wait() { all_answered_.acquire(); }

 private:
  std::span<Result<T>> results_;
  std::size_t open_;
  std::binary_semaphore all_answered_{0};
};

Result<Decision> strictest_of(Result<std::vector<Decision>> decisions) {
  if (!decisions) return decisions.error();
  return core::strictest(*decisions);
}

}  // namespace

void BlockingStore::check_each(std::span<const Check> checks, std::span<Result<Decision>> results) {
  PENSTOCK_CHECK(results.size() == checks.size());
  if (checks.empty()) return;
  if (const std::optional<Error> refused = loop_->fail_now()) {
    std::fill(results.begin(), results.end(), *refused);
    return;
  }
  Answers<Decision> answers(results);
  const base::Deadline until = deadline();
  // Copies all but the answers: the last one may arrive at once, and the caller's stack frame is
  // invalid after it.
  loop_->post([this, checks, until, &answers](CommandExecutor& store) {
    for (std::size_t i = 0; i < checks.size(); ++i) {
      store.check(request_for(layout_, checks.subspan(i, 1)), until,
                  [&answers, i](Result<std::vector<Decision>> said) {
                    answers.set(i, said ? Result(said->front()) : Result<Decision>(said.error()));
                  });
    }
  });
  answers.wait();
}

Result<Decision> BlockingStore::check(std::string_view key, const Quota& quota, Cost cost) {
  const Check check{.key = key, .quota = quota, .cost = cost};
  Result<Decision> result = Decision{};
  check_each({&check, 1}, {&result, 1});
  return result;
}

Result<Decision> BlockingStore::check(std::string_view key, const Limits& limits, Cost cost) {
  if (limits.size() == 0) return Decision::allow(0, 0, Duration{0});
  return strictest_of(ask<std::vector<Decision>>([&](auto& store, auto until, auto answer) {
    store.check(request_for(layout_, key, limits, cost), until, answer);
  }));
}

Result<Decision> BlockingStore::check_all(std::span<const Check> checks, std::span<Decision> each) {
  PENSTOCK_CHECK(each.empty() || each.size() == checks.size());
  if (checks.empty()) return Decision::allow(0, 0, Duration{0});  // no limits
  auto decisions = ask<std::vector<Decision>>([&](auto& store, auto until, auto answer) {
    store.check(request_for(layout_, checks), until, answer);
  });
  if (decisions && !each.empty()) std::copy(decisions->begin(), decisions->end(), each.begin());
  return strictest_of(std::move(decisions));
}

Result<Decision> BlockingStore::refund(std::string_view key, const Quota& quota, Cost cost) {
  const Check check{.key = key, .quota = quota, .cost = cost};
  return strictest_of(ask<std::vector<Decision>>([&](auto& store, auto until, auto answer) {
    store.refund(request_for(layout_, {&check, 1}), until, answer);
  }));
}

Result<Decision> BlockingStore::refund(std::string_view key, const Limits& limits, Cost cost) {
  if (limits.size() == 0) return Decision::allow(0, 0, Duration{0});
  return strictest_of(ask<std::vector<Decision>>([&](auto& store, auto until, auto answer) {
    store.refund(request_for(layout_, key, limits, cost), until, answer);
  }));
}

Result<bool> BlockingStore::reset(std::string_view key) {
  return ask<bool>([&](auto& store, auto until, auto answer) {
    store.reset({{.key = layout_.limit(key), .escrow = layout_.escrow(key)}}, until, answer);
  });
}

Result<bool> BlockingStore::reset(std::string_view key, const Limits& limits) {
  if (limits.size() == 0) return false;
  std::vector<ResetKey> keys;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    keys.push_back(
        {.key = layout_.limit(key, limits[i].name), .escrow = layout_.escrow(key, limits[i].name)});
  }
  return ask<bool>([&](auto& store, auto until, auto answer) { store.reset(keys, until, answer); });
}

Result<bool> BlockingStore::block(std::string_view key, Duration duration) {
  return block_state(layout_.limit(key), duration);
}

Result<bool> BlockingStore::block(std::string_view key, std::string_view limit, Duration duration) {
  return block_state(layout_.limit(key, limit), duration);
}

Result<bool> BlockingStore::block_state(const std::string& state, Duration duration) {
  const Duration lasting = std::clamp<Duration>(duration, Duration{0}, Quota::kMaxRefill);
  return ask<bool>(
      [&](auto& store, auto until, auto answer) { store.block(state, lasting, until, answer); });
}

Result<std::int64_t> BlockingStore::add(const std::string& counter, std::int64_t delta,
                                        std::optional<Duration> lifetime) {
  return ask<std::int64_t>([&](auto& store, auto until, auto answer) {
    store.add(counter, delta, lifetime, until, answer);
  });
}

Result<std::int64_t> BlockingStore::get(const std::string& counter) {
  return ask<std::int64_t>(
      [&](auto& store, auto until, auto answer) { store.get(counter, until, answer); });
}

Result<bool> BlockingStore::remove(const std::vector<std::string>& counters) {
  return ask<bool>(
      [&](auto& store, auto until, auto answer) { store.remove(counters, until, answer); });
}

std::vector<Result<resp::Value>> BlockingStore::commands(std::vector<redis::Command> commands,
                                                         Duration timeout) {
  if (commands.empty()) return {};
  const base::Deadline until = base::deadline_after(timeout);
  std::vector<Result<resp::Value>> replies(commands.size(), resp::Value{});
  Answers<resp::Value> answers(replies);
  loop_->post([&](CommandExecutor& store) {
    for (std::size_t i = 0; i < commands.size(); ++i) {
      commands[i].deadline = until;
      store.client().send(std::move(commands[i]),
                          reply_call([&answers, i](const auto& reply) { answers.set(i, reply); }));
    }
  });
  answers.wait();
  return replies;
}

std::vector<redis::NodeId> BlockingStore::masters() {
  return wait_for<std::vector<redis::NodeId>>(
      [](CommandExecutor& store, auto answer) { answer(store.client().masters()); });
}

std::string BlockingStore::address_of(redis::NodeId node) {
  return wait_for<std::string>(
      [node](CommandExecutor& store, auto answer) { answer(store.client().address_of(node)); });
}

redis::ClientStats BlockingStore::stats() {
  return wait_for<redis::ClientStats>(
      [](CommandExecutor& store, auto answer) { answer(store.stats()); });
}

}  // namespace penstock::redis_store
