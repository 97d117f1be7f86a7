#pragma once

#include "redis/client.hpp"
#include "redis_store/batch/check_queue.hpp"
#include "redis_store/replay/state_codec.hpp"
#include "redis_store/scripts.hpp"
#include "resp/value.hpp"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::redis_store {

// Owns the lanes of batches and sends their calls.
class BatchOwner {
 public:
  BatchOwner() = default;
  BatchOwner(const BatchOwner&) = delete;
  BatchOwner& operator=(const BatchOwner&) = delete;
  virtual ~BatchOwner() = default;

  virtual void send(Batch batch) = 0;
  // All requests in flight of this lane are answered.
  virtual void finish(Lane& lane) = 0;
  // A reply has arrived, with the time at which its script decided.
  virtual void on_time(Instant /*now*/) {}
};

// A batch of requests as one call to Redis: writes the command, and decides the requests once more
// on the states that the script found.
class BatchCall final : public redis::Call {
 public:
  // REQUIRES: the lanes exist as long as the owner.
  BatchCall(const ScriptSet& scripts, Batch batch, std::weak_ptr<BatchOwner> owner)
      : scripts_(scripts), batch_(std::move(batch)), owner_(std::move(owner)) {}

  // The command to send with this call. Call once.
  [[nodiscard]] redis::Command command();

  void on_reply(Result<resp::Value> reply) override;
  bool split() override;

 private:
  using KeyIndex = Plan::KeyIndex;

  [[nodiscard]] redis::Command buckets_command();
  [[nodiscard]] redis::Command buckets_multi_command();
  // Whether every key of the lane is new, or already listed under the same limit.
  [[nodiscard]] bool fits(const Lane& lane) const;
  // The position of a key that several lanes may have in the plan.
  [[nodiscard]] KeyIndex number_of(std::string_view key);
  void plan_lane(const Lane& lane);

  void read_buckets(BatchOwner& owner, const resp::Value& reply);
  void read_decided(BatchOwner& owner, const resp::Value& reply);
  void fail(BatchOwner& owner, const Error& error);
  static void fail(BatchOwner& owner, Lane& lane, const Error& error);
  // Sends lanes that this script could not decide to the next one.
  void send_on(BatchOwner& owner, std::vector<Lane*> lanes) const;

  const ScriptSet& scripts_;
  Batch batch_;
  std::weak_ptr<BatchOwner> owner_;
  Plan plan_;  // of decide.lua
  // Of the other scripts:
  std::vector<std::string_view> keys_;
  std::vector<StateHeader> headers_;       // of the limits of every request
  std::vector<std::size_t> limit_of_key_;  // their index; empty when there is one limit
  std::vector<Lane*> unsent_;              // a key is under another limit in this call
  // Of requests with several keys:
  std::unordered_map<std::string_view, KeyIndex, base::TextHash> known_;
  std::vector<KeyIndex> numbers_;  // of all lanes: the keys of its checks, then its guard
};

}  // namespace penstock::redis_store
