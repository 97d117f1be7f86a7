#pragma once

#include "bench/remote_bench.hpp"
#include "redis_store/blocking_store.hpp"

#include <string>

// Baselines for SharedLimiter on the same client: one command per check, a batch in one write.
namespace penstock::bench {

// REQUIRES: the store outlives it.
class CommandContender : public RemoteContender {
 public:
  CommandContender(redis_store::BlockingStore& store, std::string key_prefix, Duration timeout)
      : store_(store), key_prefix_(std::move(key_prefix)), timeout_(timeout) {}

  std::optional<Error> check(std::span<const std::string_view> keys,
                             std::span<Answer> answers) final;
  [[nodiscard]] std::uint64_t round_trips() final { return store_.stats().commands; }

 protected:
  [[nodiscard]] virtual redis::Command command(const std::string& key) const = 0;
  [[nodiscard]] virtual Answer read(const resp::Value& reply) const = 0;

  redis_store::BlockingStore& store_;
  std::string key_prefix_;
  Duration timeout_;
};

// bench/naive_token_bucket.lua, called by its hash.
class NaiveContender final : public CommandContender {
 public:
  // Loads the script on every server.
  [[nodiscard]] static Result<std::unique_ptr<NaiveContender>> make(
      redis_store::BlockingStore& store, const std::string& key_prefix, const Quota& quota,
      Duration timeout);

 protected:
  [[nodiscard]] redis::Command command(const std::string& key) const override;
  [[nodiscard]] Answer read(const resp::Value& reply) const override;

 private:
  using CommandContender::CommandContender;

  std::string sha1_;
  std::string rate_;
  std::string capacity_;
};

// INCR: the cost of a round trip without a decision.
class IncrContender final : public CommandContender {
 public:
  using CommandContender::CommandContender;

  // Creates the counters with a TTL, which INCR keeps, so that an aborted run leaves nothing.
  [[nodiscard]] Result<void> make_counters(std::uint32_t keys);

  [[nodiscard]] bool decides() const override { return false; }

 protected:
  [[nodiscard]] redis::Command command(const std::string& key) const override;
  [[nodiscard]] Answer read(const resp::Value& reply) const override;
};

}  // namespace penstock::bench
