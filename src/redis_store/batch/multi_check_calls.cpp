#include "redis_store/batch/multi_check_calls.hpp"

#include "redis_store/batch/multi_check_command.hpp"

namespace penstock::redis_store {
namespace {

OnMultiCheckResult decisions_to(CommandExecutor::Decided decided) {
  return [decided = std::move(decided)](Result<MultiCheckResult> answer) {
    if (!answer) return decided(answer.error());
    decided(std::move(answer->decisions));
  };
}

}  // namespace

void check_all(redis::Client& client, const ScriptSet& scripts, MultiCheckQueue& queue,
               WaitingRequest waiting) {
  if (!waiting.request.guard.empty()) return ask_alone(client, scripts, std::move(waiting));
  queue.add(std::move(waiting));
}

void ask_alone(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting) {
  ask(client, scripts,
      std::make_shared<const MultiCheckCommand>(std::move(waiting.request), Plan::Kind::Take),
      waiting.deadline, decisions_to(std::move(waiting.decided)));
}

void refund(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting) {
  ask(client, scripts,
      std::make_shared<const MultiCheckCommand>(std::move(waiting.request), Plan::Kind::Refund),
      waiting.deadline, decisions_to(std::move(waiting.decided)));
}

}  // namespace penstock::redis_store
