#pragma once

#include "redis/client.hpp"
#include "redis_store/batch/check_queue.hpp"
#include "redis_store/batch/decide_command.hpp"
#include "redis_store/scripts.hpp"
#include "resp/value.hpp"

#include <functional>
#include <memory>

namespace penstock::redis_store {

// A batch of checks as one call to Redis.
class BatchCall final : public redis::Call {
 public:
  // Callbacks into the store.
  struct Hooks {
    std::function<void(KeyQueue&)> finish{};                  // all checks of a key are answered
    std::function<void(std::unique_ptr<BatchCall>)> again{};  // keys that need another script
  };

  BatchCall(const ScriptSet& scripts, CheckBatch batch, Reads reads, Hooks hooks)
      : scripts_(scripts), batch_(std::move(batch)), reads_(reads), hooks_(std::move(hooks)) {}

  // The command to send with this call. Call once.
  [[nodiscard]] redis::Command command();

  void on_reply(Result<resp::Value> reply) override;
  bool split() override;

 private:
  [[nodiscard]] redis::Command buckets_command() const;
  void plan_requests();
  void read_buckets(const resp::Value& reply);
  void read_decided(const resp::Value& reply);
  void fail(const Error& error) const;
  void fail(KeyQueue& queue, const Error& error) const;
  // With the script that reads all states.
  void ask_again(std::vector<KeyQueue*> keys);

  const ScriptSet& scripts_;
  CheckBatch batch_;
  Reads reads_;
  Hooks hooks_;
  Plan plan_;
  std::size_t requests_ = 0;
};

}  // namespace penstock::redis_store
