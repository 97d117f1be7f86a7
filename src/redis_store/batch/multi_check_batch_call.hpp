#pragma once

#include "redis/client.hpp"
#include "redis_store/batch/multi_check_command.hpp"
#include "redis_store/batch/multi_check_queue.hpp"
#include "redis_store/scripts.hpp"

#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::redis_store {

// A batch of requests as one call to Redis.
class MultiCheckBatchCall final : public redis::Call {
 public:
  // Callbacks into the store.
  struct Hooks {
    std::function<void(MultiCheckBatch)> send{};
    // With the scripts that read more states, one request per call.
    std::function<void(WaitingRequest)> ask_alone{};
  };

  MultiCheckBatchCall(const ScriptSet& scripts, MultiCheckBatch batch, Hooks hooks)
      : scripts_(scripts), batch_(std::move(batch)), hooks_(std::move(hooks)) {}

  // The command to send with this call. Call once.
  [[nodiscard]] redis::Command command();

  void on_reply(Result<resp::Value> reply) override;
  bool split() override;

 private:
  using KeyNumbers = std::unordered_map<std::string_view, Plan::KeyIndex>;

  [[nodiscard]] redis::Command buckets_command();
  // Whether every key of the request is new, or already listed under the same limit.
  [[nodiscard]] bool fits(const MultiCheckRequest& request, const KeyNumbers& known) const;
  void read_buckets(const resp::Value& reply);
  void read_decided(const resp::Value& reply);
  void fail(const Error& error) const;

  const ScriptSet& scripts_;
  MultiCheckBatch batch_;
  Hooks hooks_;
  Plan plan_;                                              // of decide.lua
  std::vector<std::string_view> keys_;                     // of buckets_multi.lua
  std::vector<std::size_t> limit_of_key_;                  // its index in every request
  std::vector<std::vector<Plan::KeyIndex>> key_of_check_;  // by request; empty: not sent
};

}  // namespace penstock::redis_store
