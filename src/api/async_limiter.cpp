#include "base/check.hpp"
#include "core/decide_all.hpp"
#include "penstock/async.hpp"
#include "redis_store/command_executor.hpp"
#include "redis_store/requests.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace penstock {

namespace asio = boost::asio;

struct AsyncLimiter::Parts {
  redis_store::KeyLayout layout;
  Duration timeout;
  redis_store::CommandExecutor store;

  [[nodiscard]] base::Deadline deadline() const { return base::deadline_after(timeout); }
};

namespace {

// Resumes a coroutine with its answer, from the event loop and not from within the store.
template <class Answer, class Handler>
class Resume {
 public:
  explicit Resume(Handler handler) : handler_(std::make_shared<Handler>(std::move(handler))) {}

  void operator()(Answer answer) const {
    const auto executor = asio::get_associated_executor(*handler_);
    asio::post(executor, [handler = handler_, answer = std::move(answer)]() mutable {
      std::move (*handler)(std::move(answer));
    });
  }

 private:
  std::shared_ptr<Handler> handler_;  // shared, because std::function copies
};

// An awaitable for the call that `start` begins, which calls its argument once with the answer.
template <class Answer, class Start>
asio::awaitable<Answer> answer_of(Start start) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(Answer)>(
      [](auto handler, Start begin) {
        begin(Resume<Answer, decltype(handler)>(std::move(handler)));
      },
      asio::use_awaitable, std::move(start));
}

// The answers of a batch so far.
template <class Done>
struct Answers {
  std::vector<Result<Decision>> results;
  std::size_t open;
  Done done;
};

using Decisions = Result<std::vector<Decision>>;

// `each` belongs to the caller, which keeps it until this is done.
asio::awaitable<Result<Decision>> strictest_of(asio::awaitable<Decisions> answer,
                                               std::span<Decision> each = {}) {
  const Decisions decisions = co_await std::move(answer);
  if (!decisions) co_return decisions.error();
  if (!each.empty()) std::copy(decisions->begin(), decisions->end(), each.begin());
  co_return core::strictest(*decisions);
}

asio::awaitable<Result<Decision>> only_one(asio::awaitable<std::vector<Result<Decision>>> answer) {
  std::vector<Result<Decision>> results = co_await std::move(answer);
  co_return std::move(results.front());
}

// No limits: nothing limits it.
asio::awaitable<Result<Decision>> unlimited() {
  co_return Result<Decision>(Decision::allow(0, 0, Duration{0}));
}

}  // namespace

Result<AsyncLimiter> AsyncLimiter::open(asio::any_io_executor executor,
                                        const RedisOptions& options) {
  Result<redis::Options> client = redis_store::client_options(options);
  if (!client) return client.error();
  std::unique_ptr<Parts> parts(
      new Parts{.layout = redis_store::KeyLayout(options.key_prefix),
                .timeout = options.timeout,
                .store = {executor, *std::move(client), options.max_waiting}});
  parts->store.announce_on(parts->layout.changes());
  parts->store.start();
  return AsyncLimiter(std::move(parts));
}

AsyncLimiter::AsyncLimiter(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
AsyncLimiter::~AsyncLimiter() = default;
AsyncLimiter::AsyncLimiter(AsyncLimiter&&) noexcept = default;
AsyncLimiter& AsyncLimiter::operator=(AsyncLimiter&&) noexcept = default;

asio::awaitable<std::vector<Result<Decision>>> AsyncLimiter::check_each(
    std::span<const Check> checks) {
  std::vector<redis_store::KeyCheck> questions =
      redis_store::request_for(parts_->layout, checks).checks;
  return answer_of<std::vector<Result<Decision>>>(
      [parts = parts_.get(), questions = std::move(questions)](auto done) mutable {
        if (questions.empty()) return done({});
        const std::size_t size = questions.size();
        const auto answers = std::make_shared<Answers<decltype(done)>>(
            Answers<decltype(done)>{.results = std::vector<Result<Decision>>(size, Decision{}),
                                    .open = size,
                                    .done = std::move(done)});
        const base::Deadline until = parts->deadline();
        for (std::size_t i = 0; i < size; ++i) {
          parts->store.check(
              {.checks = {std::move(questions[i])}}, until, [answers, i](Decisions said) {
                answers->results[i] =
                    said ? Result<Decision>(said->front()) : Result<Decision>(said.error());
                if (--answers->open == 0) answers->done(std::move(answers->results));
              });
        }
      });
}

asio::awaitable<Result<Decision>> AsyncLimiter::check(std::string_view key, const Quota& quota,
                                                      Cost cost) {
  const Check check{.key = key, .quota = quota, .cost = cost};
  return only_one(check_each({&check, 1}));
}

asio::awaitable<Result<Decision>> AsyncLimiter::check(std::string_view key, const Limits& limits,
                                                      Cost cost) {
  if (limits.size() == 0) return unlimited();
  return strictest_of(answer_of<Decisions>(
      [parts = parts_.get(),
       request = redis_store::request_for(parts_->layout, key, limits, cost)](auto done) mutable {
        parts->store.check(std::move(request), parts->deadline(), std::move(done));
      }));
}

asio::awaitable<Result<Decision>> AsyncLimiter::check_all(std::span<const Check> checks,
                                                          std::span<Decision> each) {
  PENSTOCK_CHECK(each.empty() || each.size() == checks.size());
  if (checks.empty()) return unlimited();
  return strictest_of(
      answer_of<Decisions>([parts = parts_.get(), request = redis_store::request_for(
                                                      parts_->layout, checks)](auto done) mutable {
        parts->store.check(std::move(request), parts->deadline(), std::move(done));
      }),
      each);
}

asio::awaitable<Result<Decision>> AsyncLimiter::refund(std::string_view key, const Quota& quota,
                                                       Cost cost) {
  const Check check{.key = key, .quota = quota, .cost = cost};
  return strictest_of(answer_of<Decisions>(
      [parts = parts_.get(),
       request = redis_store::request_for(parts_->layout, {&check, 1})](auto done) mutable {
        parts->store.refund(std::move(request), parts->deadline(), std::move(done));
      }));
}

asio::awaitable<Result<Decision>> AsyncLimiter::refund(std::string_view key, const Limits& limits,
                                                       Cost cost) {
  if (limits.size() == 0) return unlimited();
  return strictest_of(answer_of<Decisions>(
      [parts = parts_.get(),
       request = redis_store::request_for(parts_->layout, key, limits, cost)](auto done) mutable {
        parts->store.refund(std::move(request), parts->deadline(), std::move(done));
      }));
}

asio::awaitable<Result<bool>> AsyncLimiter::reset(std::string_view key) {
  return answer_of<Result<bool>>([parts = parts_.get(), name = parts_->layout.limit(key),
                                  escrow = parts_->layout.escrow(key)](auto done) {
    parts->store.reset({{.key = name, .escrow = escrow}}, parts->deadline(), std::move(done));
  });
}

asio::awaitable<Result<bool>> AsyncLimiter::block(std::string_view key, Duration duration) {
  const Duration lasting = std::clamp<Duration>(duration, Duration{0}, Quota::kMaxRefill);
  return answer_of<Result<bool>>(
      [parts = parts_.get(), name = parts_->layout.limit(key), lasting](auto done) {
        parts->store.block(name, lasting, parts->deadline(), std::move(done));
      });
}

RedisStats AsyncLimiter::stats() const { return redis_store::public_stats(parts_->store.stats()); }

}  // namespace penstock
