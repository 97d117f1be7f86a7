#include "redis_store/command_executor.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/batch/batch_call.hpp"
#include "redis_store/batch/batching.hpp"
#include "redis_store/batch/cross_slot_check.hpp"
#include "redis_store/batch/multi_check_batch_call.hpp"
#include "redis_store/batch/multi_check_calls.hpp"
#include "redis_store/lease/change_message.hpp"
#include "redis_store/plain_command.hpp"
#include "redis_store/small_calls.hpp"
#include "resp/command.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <utility>

namespace penstock::redis_store {
namespace {

// Announcements have no waiting caller.
constexpr std::chrono::seconds kAnnounceTimeout{1};

}  // namespace

// Outlives the store while a posted flush refers to it.
class CommandExecutor::Core : public std::enable_shared_from_this<CommandExecutor::Core> {
 public:
  Core(const boost::asio::any_io_executor& executor, redis::Options options,
       std::size_t max_waiting, const ScriptSet& scripts)
      : executor_(executor),
        scripts_(scripts),
        max_waiting_(max_waiting),
        expiry_timer_(executor),
        client_(std::make_unique<redis::Client>(executor, std::move(options), scripts.all())) {}

  void check(KeyCheck check, base::Deadline deadline, DecisionHandler& handler,
             std::size_t question) {
    if (is_full()) return handler.on_decision(question, full());
    queue_.add(std::move(check.key), {.quota = check.quota,
                                      .cost = check.cost,
                                      .deadline = deadline,
                                      .handler = &handler,
                                      .question = question});
    flush_soon();
    expire_later();
  }

  void check_all(WaitingRequest waiting, const std::string& channel) {
    if (is_full()) return waiting.decided(full());
    ++requests_;
    waiting.decided = [weak = weak_from_this(), decided = std::move(waiting.decided)](auto said) {
      if (const auto self = weak.lock()) --self->requests_;
      decided(std::move(said));
    };
    // the keys of a guarded request share the subject, and so the slot
    if (client_->is_cluster() && waiting.request.guard.empty()) {
      std::vector<CrossSlotCheck::Step> steps = CrossSlotCheck::steps_of(waiting.request);
      if (steps.size() > 1) {
        return check_across_slots(std::move(steps), std::move(waiting), channel);
      }
    }
    redis_store::check_all(*client_, scripts_, multi_checks_, std::move(waiting));
    if (!multi_checks_.empty()) flush_soon();
  }

  // At the end of this tick, so that all checks of the tick share calls.
  void flush_soon() {
    if (flush_posted_ || flushes_at_return_) return;
    flush_posted_ = true;
    boost::asio::post(executor_, [self = shared_from_this()] {
      self->flush_posted_ = false;
      self->send_ready();
    });
  }

  void at_once(const std::function<void()>& questions) {
    flushes_at_return_ = true;
    questions();
    flushes_at_return_ = false;
    send_ready();
  }

  void send_ready() {
    if (client_ == nullptr || (!queue_.has_ready() && multi_checks_.empty())) return;
    const base::Deadline now = base::monotonic_now();
    const auto spread =
        client_->is_cluster() ? CheckQueue::Spread::BySlot : CheckQueue::Spread::OneServer;
    for (CheckBatch& batch : queue_.take(spread, now)) {
      send(std::make_unique<BatchCall>(scripts_, std::move(batch), Reads::OneAlgorithm, hooks()));
    }
    for (MultiCheckBatch& batch : multi_checks_.take(spread, now)) send(std::move(batch));
    expire_later();
  }

  // Schedules expire() for checks that end before the call they wait for.
  void expire_later() {
    const base::Deadline next =
        std::max(queue_.next_expiry(), expired_ + base::kDeadlineResolution);
    if (next >= expires_at_ || client_ == nullptr) return;
    expires_at_ = next;
    expiry_timer_.expires_at(next);
    expiry_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
      if (failed) return;
      self->expires_at_ = base::Deadline::max();
      self->expired_ = base::monotonic_now();
      self->queue_.expire(self->expired_);
      self->expire_later();
    });
  }

  void send(std::unique_ptr<BatchCall> call) {
    redis::Command command = call->command();
    client_->send(std::move(command), std::move(call));
  }

  void send(MultiCheckBatch batch) {
    auto call =
        std::make_unique<MultiCheckBatchCall>(scripts_, std::move(batch), multi_check_hooks());
    redis::Command command = call->command();
    client_->send(std::move(command), std::move(call));
  }

  // Fails all waiting checks while the caller's objects still exist.
  void close() {
    client_.reset();
    expiry_timer_.cancel();
    queue_.fail_all(store_closed());
    multi_checks_.fail_all(store_closed());
  }

  // Sends a command that changes these keys, and announces them right after it; and once more after
  // its reply if anything was sent again meanwhile, since the first announcement may have overtaken
  // the change.
  void change(redis::Command command, const std::string& channel,
              const std::vector<std::string>& keys, OnReply on_reply) {
    const std::uint64_t before = sent_again();
    client_->send(std::move(command),
                  reply_call([weak = weak_from_this(), channel, keys, before,
                              on_reply = std::move(on_reply)](const Result<resp::Value>& reply) {
                    const auto self = weak.lock();
                    if (self != nullptr && self->sent_again() != before) {
                      self->announce(channel, keys, Change::Any);
                    }
                    on_reply(reply);
                  }));
    announce(channel, keys, Change::Any);
  }

  // Announces the keys after the answer, unless it guarantees that nothing changed.
  CommandExecutor::Decided then_announce(const std::string& channel,
                                         const std::vector<std::string>& keys,
                                         CommandExecutor::Decided decided) {
    return [weak = weak_from_this(), channel, keys,
            decided = std::move(decided)](Result<std::vector<Decision>> said) {
      const auto self = weak.lock();
      const bool unchanged = !said && was_not_executed(said.error());
      if (self != nullptr && !unchanged) self->announce(channel, keys, Change::Refunded);
      decided(std::move(said));
    };
  }

  [[nodiscard]] redis::Client& client() { return *client_; }
  [[nodiscard]] const ScriptSet& scripts() const { return scripts_; }

 private:
  [[nodiscard]] bool is_full() const { return queue_.size() + requests_ >= max_waiting_; }
  [[nodiscard]] Error full() const {
    return {ErrorCode::Overloaded, std::to_string(max_waiting_) + " checks are waiting already"};
  }

  void check_across_slots(std::vector<CrossSlotCheck::Step> steps, WaitingRequest waiting,
                          const std::string& channel) {
    auto ask_slot = [&client = *client_, &scripts = scripts_](
                        const MultiCheckRequest& request, Plan::Kind kind, base::Deadline deadline,
                        OnMultiCheckResult answered) {
      ask(client, scripts, std::make_shared<const MultiCheckCommand>(request, kind), deadline,
          std::move(answered));
    };
    auto announce_refund = [weak = weak_from_this(), channel](const auto& keys) {
      if (const auto self = weak.lock()) self->announce(channel, keys, Change::Refunded);
    };
    std::make_shared<CrossSlotCheck>(
        CrossSlotCheck::Dependencies{.executor = executor_,
                                     .ask = std::move(ask_slot),
                                     .on_refunded = std::move(announce_refund)},
        std::move(steps), waiting.deadline, std::move(waiting.decided))
        ->start();
  }

  void announce(const std::string& channel, const std::vector<std::string>& keys, Change change) {
    if (client_ == nullptr || channel.empty()) return;
    for (const std::string& key : keys) {
      const std::string message = message_for(key, change);
      redis::Command command = command_for_key(key, {"PUBLISH", channel, message});
      command.deadline = base::deadline_after(kAnnounceTimeout);
      client_->send(std::move(command), reply_call([](const auto&) {}));
    }
  }

  [[nodiscard]] std::uint64_t sent_again() const {
    if (client_ == nullptr) return 0;
    const redis::ClientStats stats = client_->stats();
    return stats.retries + stats.script_loads;
  }

  // Callbacks into the store, without effect once it is destroyed.
  BatchCall::Hooks hooks() {
    return {.finish =
                [weak = weak_from_this()](KeyQueue& queue) {
                  const auto self = weak.lock();
                  if (self == nullptr) return;
                  self->queue_.finish(queue);
                  if (self->queue_.has_ready()) self->flush_soon();
                },
            .again =
                [weak = weak_from_this()](std::unique_ptr<BatchCall> call) {
                  const auto self = weak.lock();
                  if (self != nullptr && self->client_ != nullptr) self->send(std::move(call));
                }};
  }

  MultiCheckBatchCall::Hooks multi_check_hooks() {
    return {.send =
                [weak = weak_from_this()](MultiCheckBatch batch) {
                  const auto self = weak.lock();
                  if (self != nullptr && self->client_ != nullptr) {
                    return self->send(std::move(batch));
                  }
                  for (const WaitingRequest& each : batch.requests) each.decided(store_closed());
                },
            .ask_alone =
                [weak = weak_from_this()](WaitingRequest waiting) {
                  const auto self = weak.lock();
                  if (self == nullptr || self->client_ == nullptr) {
                    return waiting.decided(store_closed());
                  }
                  ask_alone(*self->client_, self->scripts_, std::move(waiting));
                }};
  }

  boost::asio::any_io_executor executor_;
  const ScriptSet& scripts_;
  std::size_t max_waiting_;
  boost::asio::steady_timer expiry_timer_;
  base::Deadline expires_at_ = base::Deadline::max();
  base::Deadline expired_{};  // the last expiry
  std::unique_ptr<redis::Client> client_;
  CheckQueue queue_;
  MultiCheckQueue multi_checks_;
  std::size_t requests_ = 0;  // multi-limit checks in flight
  bool flush_posted_ = false;
  bool flushes_at_return_ = false;
};

CommandExecutor::CommandExecutor(const boost::asio::any_io_executor& executor,
                                 redis::Options options, std::size_t max_waiting,
                                 const ScriptSet& scripts)
    : core_(std::make_shared<Core>(executor, std::move(options), max_waiting, scripts)) {}

CommandExecutor::~CommandExecutor() { core_->close(); }

void CommandExecutor::start() { core_->client().start(); }

void CommandExecutor::announce_on(std::string channel) { channel_ = std::move(channel); }

void CommandExecutor::at_once(const std::function<void()>& questions) { core_->at_once(questions); }

void CommandExecutor::check(KeyCheck check, base::Deadline deadline, DecisionHandler& handler,
                            std::size_t question) {
  core_->check(std::move(check), deadline, handler, question);
}

void CommandExecutor::check_all(MultiCheckRequest request, base::Deadline deadline,
                                Decided decided) {
  core_->check_all(
      {.request = std::move(request), .deadline = deadline, .decided = std::move(decided)},
      channel_);
}

void CommandExecutor::refund(MultiCheckRequest request, base::Deadline deadline, Decided decided) {
  if (!channel_.empty()) {
    std::vector<std::string> keys;
    for (const KeyCheck& check : request.checks) keys.push_back(check.key);
    decided = core_->then_announce(channel_, keys, std::move(decided));
  }
  redis_store::refund(
      core_->client(), core_->scripts(),
      {.request = std::move(request), .deadline = deadline, .decided = std::move(decided)});
}

void CommandExecutor::reset(std::vector<ResetKey> keys, base::Deadline deadline, Done done) {
  std::vector<std::string_view> views;
  for (const ResetKey& each : keys) views.emplace_back(each.key);
  for (const ResetKey& each : keys) views.emplace_back(each.escrow);
  redis::Command command = script_command(core_->scripts().reset(), views, {});
  command.slot = redis::hash_slot(keys.front().key);
  command.deadline = deadline;
  std::vector<std::string> names;
  for (ResetKey& each : keys) names.push_back(std::move(each.key));
  core_->change(std::move(command), channel_, names,
                [done = std::move(done)](const auto& reply) { done(read_reset(reply)); });
}

void CommandExecutor::block(const std::string& key, Duration duration, base::Deadline deadline,
                            Done done) {
  const std::vector<std::string_view> keys{key};
  const std::string micros = std::to_string(duration.count());
  redis::Command command = script_command(core_->scripts().block(), keys, {micros});
  command.slot = redis::hash_slot(key);
  command.deadline = deadline;
  core_->change(std::move(command), channel_, {key},
                [done = std::move(done)](const auto& reply) { done(read_flag(reply)); });
}

void CommandExecutor::lease(std::vector<KeyLeaseRequest> asks, base::Deadline deadline,
                            Leased leased) {
  redis_store::lease(core_->client(), core_->scripts(), std::move(asks), deadline,
                     std::move(leased));
}

void CommandExecutor::add(const std::string& counter, std::int64_t delta,
                          std::optional<Duration> lifetime, base::Deadline deadline,
                          Counted counted) {
  const std::vector<std::string_view> keys{counter};
  const auto lasting = std::chrono::ceil<std::chrono::milliseconds>(lifetime.value_or(Duration{0}));
  const std::string delta_text = std::to_string(delta);
  const std::string lifetime_text = std::to_string(lasting.count());
  redis::Command command =
      script_command(core_->scripts().count(), keys, {delta_text, lifetime_text});
  command.slot = redis::hash_slot(counter);
  command.deadline = deadline;
  core_->client().send(std::move(command),
                       reply_call([counted = std::move(counted), delta](const auto& reply) {
                         counted(read_sum(reply, delta));
                       }));
}

void CommandExecutor::get(const std::string& counter, base::Deadline deadline, Counted counted) {
  const std::vector<std::string_view> keys{counter};
  redis::Command command = script_command(core_->scripts().read_count(), keys, {});
  command.slot = redis::hash_slot(counter);
  command.deadline = deadline;
  core_->client().send(std::move(command),
                       reply_call([counted = std::move(counted)](const auto& reply) {
                         counted(read_count(reply));
                       }));
}

void CommandExecutor::remove(const std::vector<std::string>& counters, base::Deadline deadline,
                             Done done) {
  resp::CommandWriter writer(1 + counters.size());
  writer.add("DEL");
  for (const std::string& counter : counters) writer.add(counter);
  redis::Command command;
  command.bytes = std::move(writer).take();
  command.slot = redis::hash_slot(counters.front());
  command.deadline = deadline;
  core_->client().send(std::move(command), reply_call([done = std::move(done)](const auto& reply) {
                         done(read_flag(reply));
                       }));
}

void CommandExecutor::read_counter(const CounterKeys& counters, base::Deadline deadline,
                                   std::function<void(Result<store::CounterValues>)> on_counters) {
  const std::vector<std::string_view> keys(counters.begin(), counters.end());
  redis::Command command = script_command(core_->scripts().counter_info(), keys, {});
  command.slot = redis::hash_slot(counters.front());
  command.deadline = deadline;
  core_->client().send(std::move(command),
                       reply_call([on_counters = std::move(on_counters)](const auto& reply) {
                         on_counters(read_counter_values(reply));
                       }));
}

void CommandExecutor::expire(const CounterKeys& counters, Duration lifetime,
                             store::ExpireCondition condition, base::Deadline deadline, Done done) {
  const std::vector<std::string_view> keys(counters.begin(), counters.end());
  const auto lasting = std::chrono::ceil<std::chrono::milliseconds>(lifetime);
  const std::string milliseconds = std::to_string(lasting.count());
  redis::Command command =
      script_command(core_->scripts().expire_counter(), keys,
                     {milliseconds, condition == store::ExpireCondition::IfPersistent ? "1" : "0"});
  command.slot = redis::hash_slot(counters.front());
  command.deadline = deadline;
  core_->client().send(std::move(command), reply_call([done = std::move(done)](const auto& reply) {
                         done(read_flag(reply));
                       }));
}

void CommandExecutor::heartbeat(const std::string& key, std::string_view node, Duration lasts,
                                base::Deadline deadline, Counted counted) {
  const std::vector<std::string_view> keys{key};
  const std::string micros = std::to_string(lasts.count());
  redis::Command command = script_command(core_->scripts().heartbeat(), keys, {node, micros});
  command.slot = redis::hash_slot(key);
  command.deadline = deadline;
  core_->client().send(std::move(command),
                       reply_call([counted = std::move(counted)](const auto& reply) {
                         counted(read_integer(reply));
                       }));
}

void CommandExecutor::run(const redis::Script& script, const std::vector<std::string_view>& keys,
                          std::initializer_list<std::string_view> arguments,
                          base::Deadline deadline,
                          std::function<void(const Result<resp::Value>&)> replied) {
  redis::Command command = script_command(script, keys, arguments);
  command.slot = redis::hash_slot(keys.front());
  command.deadline = deadline;
  core_->client().send(std::move(command), reply_call(std::move(replied)));
}

const ScriptSet& CommandExecutor::scripts() const noexcept { return core_->scripts(); }

bool CommandExecutor::is_cluster() const noexcept { return core_->client().is_cluster(); }

redis::Client& CommandExecutor::client() noexcept { return core_->client(); }

redis::ClientStats CommandExecutor::stats() const noexcept { return core_->client().stats(); }

}  // namespace penstock::redis_store
