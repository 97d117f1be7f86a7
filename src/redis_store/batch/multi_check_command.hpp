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

// What one script said about limits that were decided together.
struct MultiCheckResult {
  bool passed = false;
  std::vector<Decision> decisions{};
};

// Which keys of a plan a request asks about.
struct PlannedRequestKeys {
  std::vector<Plan::KeyIndex> of_checks{};
  std::optional<Plan::KeyIndex> guard{};
};

// Adds a request to the plan. The same limit several times costs the sum.
[[nodiscard]] PlannedRequestKeys add_request(Plan& plan, const MultiCheckRequest& request,
                                             Plan::Kind kind);

// What the keys of a decided hold, as far as it can be read.
[[nodiscard]] std::vector<KeyReplay> replays_of(const DecideReply& decided);

// Takes what the request asks for, or nothing.
[[nodiscard]] MultiCheckResult take(const MultiCheckRequest& request,
                                    std::span<const Plan::KeyIndex> key_of_check,
                                    std::vector<KeyReplay>& keys, Instant now);

// Whether the answer is what a script says of a request. One that takes nothing may be either.
[[nodiscard]] bool agrees(const MultiCheckRequest& request, const MultiCheckResult& answer,
                          std::uint32_t admitted);
[[nodiscard]] Error disagreement();

// Limits of one slot, decided by one script. Knows no sockets: it says what to send, and reads the
// answer.
class MultiCheckCommand {
 public:
  MultiCheckCommand(MultiCheckRequest request, Plan::Kind kind);

  [[nodiscard]] redis::Command command(const ScriptSet& scripts, Reads reads) const;

  // Empty when the script could not read a state, and the one that reads all must be asked.
  [[nodiscard]] Result<std::optional<MultiCheckResult>> read(const resp::Value& reply) const;

  [[nodiscard]] const MultiCheckRequest& request() const noexcept { return request_; }

 private:
  [[nodiscard]] MultiCheckResult replay(std::vector<KeyReplay>& keys, Instant now) const;

  MultiCheckRequest request_;
  Plan::Kind kind_;
  Plan plan_;
  PlannedRequestKeys keys_;
};

// Sends it, again where needed, and hands over what was answered.
using OnMultiCheckResult = std::function<void(Result<MultiCheckResult>)>;
void ask(redis::Client& client, const ScriptSet& scripts,
         const std::shared_ptr<const MultiCheckCommand>& question, base::Deadline deadline,
         OnMultiCheckResult answered);

}  // namespace penstock::redis_store
