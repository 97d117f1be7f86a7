#include "redis_store/batch/together.hpp"

#include "redis_store/batch/together_call.hpp"

namespace penstock::redis_store {
namespace {

TogetherAnswered decisions_to(RedisStore::Decided decided) {
  return [decided = std::move(decided)](Result<TogetherAnswer> answer) {
    if (!answer) return decided(answer.error());
    decided(std::move(answer->decisions));
  };
}

}  // namespace

void check_together(redis::Client& client, const ScriptSet& scripts, TogetherQueue& queue,
                    WaitingRequest waiting) {
  if (!waiting.request.guard.empty()) return ask_alone(client, scripts, std::move(waiting));
  queue.add(std::move(waiting));
}

void ask_alone(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting) {
  ask(client, scripts,
      std::make_shared<const TogetherQuestion>(std::move(waiting.request), Plan::Kind::Take),
      waiting.deadline, decisions_to(std::move(waiting.decided)));
}

void refund(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting) {
  ask(client, scripts,
      std::make_shared<const TogetherQuestion>(std::move(waiting.request), Plan::Kind::GiveBack),
      waiting.deadline, decisions_to(std::move(waiting.decided)));
}

}  // namespace penstock::redis_store
