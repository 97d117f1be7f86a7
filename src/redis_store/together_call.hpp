#pragma once

#include "redis_store/decide_command.hpp"
#include "redis_store/key_replay.hpp"
#include "redis_store/redis_store.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace penstock::redis_store {

// What one script said about limits that were decided together.
struct TogetherAnswer {
  bool passed = false;
  std::vector<Decision> decisions{};
};

// Limits of one slot, decided by one script. Knows no sockets: it says what to send, and reads the
// answer.
class TogetherQuestion {
 public:
  TogetherQuestion(TogetherRequest request, Plan::Kind kind);

  [[nodiscard]] redis::Command command(const ScriptSet& scripts, Reads reads) const;

  // Empty when the script could not read a state, and the one that reads all must be asked.
  [[nodiscard]] Result<std::optional<TogetherAnswer>> read(const resp::Value& reply) const;

  [[nodiscard]] const TogetherRequest& request() const noexcept { return request_; }

 private:
  void plan();
  [[nodiscard]] TogetherAnswer replay(std::vector<KeyReplay>& keys, Instant now) const;

  TogetherRequest request_;
  Plan::Kind kind_;
  Plan plan_;
  std::vector<Plan::KeyIndex> key_of_check_;
  std::optional<Plan::KeyIndex> guard_;
};

// Sends it, again where needed, and hands over what was answered.
using TogetherAnswered = std::function<void(Result<TogetherAnswer>)>;
void ask(redis::Client& client, const ScriptSet& scripts,
         const std::shared_ptr<const TogetherQuestion>& question, base::Deadline deadline,
         TogetherAnswered answered);

}  // namespace penstock::redis_store
