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

// A batch of requests on its way to Redis and back.
class MultiCheckBatchCall final : public redis::Call {
 public:
  // What it may do with the store that it belongs to.
  struct Hooks {
    std::function<void(MultiCheckBatch)> send{};
    // Of the scripts that read more states, one request a call.
    std::function<void(WaitingRequest)> ask_alone{};
  };

  MultiCheckBatchCall(const ScriptSet& scripts, MultiCheckBatch batch, Hooks hooks)
      : scripts_(scripts), batch_(std::move(batch)), hooks_(std::move(hooks)) {}

  // To be sent with this call. Once.
  [[nodiscard]] redis::Command command();

  void on_reply(Result<resp::Value> reply) override;
  bool split() override;

 private:
  using KeyNumbers = std::unordered_map<std::string_view, Plan::KeyIndex>;

  [[nodiscard]] redis::Command buckets_command();
  // Whether every key of the request is new, or known under the same limit.
  [[nodiscard]] bool fits(const MultiCheckRequest& request, const KeyNumbers& known) const;
  void read_buckets(const resp::Value& reply);
  void read_decided(const resp::Value& reply);
  void fail(const Error& error) const;

  const ScriptSet& scripts_;
  MultiCheckBatch batch_;
  Hooks hooks_;
  Plan plan_;                                              // of decide.lua
  std::vector<std::string_view> keys_;                     // of buckets_multi.lua
  std::vector<std::size_t> limit_of_key_;                  // the place in every request
  std::vector<std::vector<Plan::KeyIndex>> key_of_check_;  // by request; empty: not asked
};

}  // namespace penstock::redis_store
