#pragma once

#include "redis_store/batch/decide_command.hpp"
#include "redis_store/command_executor.hpp"
#include "redis_store/replay/key_replay.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace penstock::redis_store {

// The result of one script for a multi-limit check.
struct MultiCheckResult {
  bool passed = false;
  std::vector<Decision> decisions{};
};

// The keys of a plan that a request refers to.
struct PlannedRequestKeys {
  std::vector<Plan::KeyIndex> of_checks{};
  std::optional<Plan::KeyIndex> guard{};
};

// Adds a request to the plan. Checks of the same key must fit with the sum of their costs.
[[nodiscard]] PlannedRequestKeys add_request(Plan& plan, const MultiCheckRequest& request,
                                             Plan::Kind kind);

// The keys of a reply, as far as their states can be read.
[[nodiscard]] std::vector<KeyReplay> replays_of(const DecideReply& decided);

// Charges the request, or nothing.
[[nodiscard]] MultiCheckResult take(const MultiCheckRequest& request,
                                    std::span<const Plan::KeyIndex> key_of_check,
                                    std::vector<KeyReplay>& keys, Instant now);

// Whether the answer agrees with the script's count of admissions. A request without a cost agrees
// with either.
[[nodiscard]] bool agrees(const MultiCheckRequest& request, const MultiCheckResult& answer,
                          std::uint32_t admitted);
[[nodiscard]] Error disagreement();

// A multi-limit check of one slot, decided by one script. It has no sockets: it builds the command
// and reads the reply.
class MultiCheckCommand {
 public:
  MultiCheckCommand(MultiCheckRequest request, Plan::Kind kind);

  [[nodiscard]] redis::Command command(const ScriptSet& scripts, Reads reads) const;

  // Empty when the script could not read a state: the script that reads all must be called.
  [[nodiscard]] Result<std::optional<MultiCheckResult>> read(const resp::Value& reply) const;

  [[nodiscard]] const MultiCheckRequest& request() const noexcept { return request_; }

 private:
  [[nodiscard]] MultiCheckResult replay(std::vector<KeyReplay>& keys, Instant now) const;

  MultiCheckRequest request_;
  Plan::Kind kind_;
  Plan plan_;
  PlannedRequestKeys keys_;
};

// Sends the command, again where needed, and passes on the result.
using OnMultiCheckResult = std::function<void(Result<MultiCheckResult>)>;
void ask(redis::Client& client, const ScriptSet& scripts,
         const std::shared_ptr<const MultiCheckCommand>& question, base::Deadline deadline,
         OnMultiCheckResult answered);

}  // namespace penstock::redis_store
