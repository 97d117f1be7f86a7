#include "redis_store/command_executor.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/batch/cross_slot_check.hpp"
#include "resp/command.hpp"

#include <utility>

namespace penstock::redis_store {
namespace {

// Announcements have no waiting caller.
constexpr std::chrono::seconds kAnnounceTimeout{1};

std::vector<std::string> keys_of(const CheckRequest& request) {
  std::vector<std::string> keys;
  for (const KeyCheck& check : request.checks) keys.push_back(check.key);
  return keys;
}

}  // namespace

CommandExecutor::CommandExecutor(const boost::asio::any_io_executor& executor,
                                 redis::Options options, std::size_t max_waiting,
                                 const ScriptSet& scripts)
    : executor_(executor),
      scripts_(scripts),
      max_waiting_(max_waiting),
      client_(std::make_unique<redis::Client>(executor, std::move(options), scripts.all())),
      batcher_(std::make_shared<Batcher>(executor, *client_, scripts)) {}

CommandExecutor::~CommandExecutor() {
  batcher_->close();
  client_.reset();
  batcher_->fail_all();
}

Result<void> CommandExecutor::reload(redis::Options options, std::size_t max_waiting) {
  Result<void> reloaded = client_->reload(std::move(options));
  if (reloaded) max_waiting_ = max_waiting;
  return reloaded;
}

void CommandExecutor::report_time_to(RedisClock& clock) {
  clock_ = &clock;
  batcher_->report_time_to(clock);
}

void CommandExecutor::check(CheckRequest request, base::Deadline deadline, Decided decided) {
  if (batcher_->size() >= max_waiting_) {
    return decided(
        Error{ErrorCode::Overloaded, std::to_string(max_waiting_) + " checks are waiting already"});
  }
  // the keys of a guarded request share the subject, and so the slot
  if (request.checks.size() > 1 && request.guard.empty() && client_->is_cluster()) {
    return check_across_slots(std::move(request), deadline, std::move(decided));
  }
  batcher_->add(
      {.request = std::move(request), .deadline = deadline, .decided = std::move(decided)});
}

void CommandExecutor::check_across_slots(CheckRequest request, base::Deadline deadline,
                                         Decided decided) {
  auto ask_slot = [batcher = batcher_](CheckRequest part, Plan::Kind kind, base::Deadline until,
                                       Decided answered) {
    batcher->add({.request = std::move(part),
                  .kind = kind,
                  .deadline = until,
                  .decided = std::move(answered)});
  };
  std::vector<CrossSlotCheck::Step> steps = CrossSlotCheck::steps_of(request);
  if (steps.size() == 1) {
    return ask_slot(std::move(request), Plan::Kind::Take, deadline, std::move(decided));
  }
  auto announce_refund = [this](const auto& keys) { announce(keys, Change::Refunded); };
  std::make_shared<CrossSlotCheck>(
      CrossSlotCheck::Dependencies{.executor = executor_,
                                   .ask = std::move(ask_slot),
                                   .on_refunded = std::move(announce_refund)},
      std::move(steps), deadline, std::move(decided))
      ->start();
}

void CommandExecutor::refund(CheckRequest request, base::Deadline deadline, Decided decided) {
  if (!channel_.empty()) {
    // announced after the answer, unless that guarantees that nothing changed
    decided = [this, keys = keys_of(request),
               decided = std::move(decided)](Result<std::vector<Decision>> said) {
      if (said || !was_not_executed(said.error())) announce(keys, Change::Refunded);
      decided(std::move(said));
    };
  }
  batcher_->add({.request = std::move(request),
                 .kind = Plan::Kind::Refund,
                 .deadline = deadline,
                 .decided = std::move(decided)});
}

void CommandExecutor::reset(std::vector<ResetKey> keys, base::Deadline deadline, Done done) {
  std::vector<std::string_view> views;
  views.reserve(2 * keys.size());
  for (const ResetKey& each : keys) views.emplace_back(each.key);
  for (const ResetKey& each : keys) views.emplace_back(each.escrow);
  redis::Command command = script_command(scripts_.reset, views, {});
  command.slot = redis::hash_slot(keys.front().key);
  command.deadline = deadline;
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (ResetKey& each : keys) names.push_back(std::move(each.key));
  change(std::move(command), names,
         [done = std::move(done)](const auto& reply) { done(read_reset(reply)); });
}

void CommandExecutor::block(const std::string& key, Duration duration, base::Deadline deadline,
                            Done done) {
  const std::vector<std::string_view> keys{key};
  redis::Command command = script_command(scripts_.block, keys, {std::to_string(duration.count())});
  command.slot = redis::hash_slot(key);
  command.deadline = deadline;
  change(std::move(command), {key},
         [done = std::move(done)](const auto& reply) { done(read_flag(reply)); });
}

void CommandExecutor::lease(std::vector<KeyLeaseRequest> asks, base::Deadline deadline,
                            Leased leased) {
  redis_store::lease({.client = *client_, .scripts = scripts_, .clock = clock_}, std::move(asks),
                     deadline, std::move(leased));
}

void CommandExecutor::add(const std::string& counter, std::int64_t delta,
                          std::optional<Duration> lifetime, base::Deadline deadline,
                          Counted counted) {
  const auto lasting = std::chrono::ceil<std::chrono::milliseconds>(lifetime.value_or(Duration{0}));
  run(scripts_.count, {counter}, {std::to_string(delta), std::to_string(lasting.count())}, deadline,
      [counted = std::move(counted), delta](const auto& reply) {
        counted(read_sum(reply, delta));
      });
}

void CommandExecutor::get(const std::string& counter, base::Deadline deadline, Counted counted) {
  run(scripts_.read_count, {counter}, {}, deadline, read_count, std::move(counted));
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
  client_->send(std::move(command), reply_call([done = std::move(done)](const auto& reply) {
                  done(read_flag(reply));
                }));
}

void CommandExecutor::run(const redis::Script& script, const std::vector<std::string_view>& keys,
                          std::initializer_list<std::string_view> arguments,
                          base::Deadline deadline, OnReply on_reply) {
  redis::Command command = script_command(script, keys, arguments);
  command.slot = redis::hash_slot(keys.front());
  command.deadline = deadline;
  client_->send(std::move(command), reply_call(std::move(on_reply)));
}

void CommandExecutor::run_change(const redis::Script& script,
                                 const std::vector<std::string_view>& keys,
                                 std::initializer_list<std::string_view> arguments,
                                 base::Deadline deadline, OnReply on_reply) {
  redis::Command command = script_command(script, keys, arguments);
  command.slot = redis::hash_slot(keys.front());
  command.deadline = deadline;
  change(std::move(command), {std::string(keys.front())}, std::move(on_reply));
}

void CommandExecutor::change(redis::Command command, const std::vector<std::string>& keys,
                             OnReply on_reply) {
  const std::uint64_t before = sent_again();
  client_->send(std::move(command), reply_call([this, keys, before, on_reply = std::move(on_reply)](
                                                   const Result<resp::Value>& reply) {
                  if (sent_again() != before) announce(keys, Change::Any);
                  on_reply(reply);
                }));
  announce(keys, Change::Any);
}

void CommandExecutor::announce(const std::vector<std::string>& keys, Change change) {
  if (client_ == nullptr || channel_.empty()) return;
  for (const std::string& key : keys) {
    redis::Command command = command_for_key(key, {"PUBLISH", channel_, message_for(key, change)});
    command.deadline = base::deadline_after(kAnnounceTimeout);
    client_->send(std::move(command), reply_call([](const auto&) {}));
  }
}

std::uint64_t CommandExecutor::sent_again() const {
  if (client_ == nullptr) return 0;
  const redis::ClientStats stats = client_->stats();
  return stats.retries + stats.script_loads;
}

}  // namespace penstock::redis_store
