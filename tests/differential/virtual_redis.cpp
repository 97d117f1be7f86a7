#include "differential/virtual_redis.hpp"

#include "redis_store/requests.hpp"
#include "redis_store/script_calls.hpp"
#include "resp/command.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

namespace penstock::differential {
namespace {

constexpr std::string_view kClock = "local now = tonumber(redis.call('GET', 'clock'))\n";

constexpr std::string_view kReadKeys =
    "local said = {}\n"
    "for _, key in ipairs(KEYS) do\n"
    "  local is_text = redis.call('TYPE', key).ok == 'string'\n"
    "  said[#said + 1] = is_text and redis.call('GET', key)\n"
    "  said[#said + 1] = redis.call('PEXPIRETIME', key)\n"
    "end\n"
    "return said\n";

constexpr std::chrono::seconds kReplyTimeout{60};

base::Deadline far() { return base::deadline_after(kReplyTimeout); }

redis::Options options_for(const servers::RedisServer& server) {
  return redis_store::client_options({.url = server.unix_url(), .max_waiting = 1'000'000}).value();
}

}  // namespace

VirtualRedis::VirtualRedis()
    : scripts_(kClock),
      read_keys_(redis::Script::from(std::string(kReadKeys))),
      store_(std::make_unique<redis_store::CommandExecutor>(
          io_.get_executor(), options_for(server_), 1'000'000, scripts_)) {
  store_->start();
  server_.must({"SCRIPT", "LOAD", read_keys_.text});
}

VirtualRedis::~VirtualRedis() {
  is_closing_ = true;
  store_.reset();
}

void VirtualRedis::send(std::string bytes, std::function<void(const Result<resp::Value>&)> heard) {
  redis::Command command;
  command.bytes = std::move(bytes);
  command.deadline = far();
  ++open_;
  store_->client().send(std::move(command),
                        redis_store::reply_call([this, heard = std::move(heard)](const auto& said) {
                          --open_;
                          if (is_closing_) return;
                          if (!said) throw std::runtime_error("Redis: " + said.error().detail);
                          heard(said);
                        }));
}

void VirtualRedis::set_clock(Instant now) {
  const std::string micros = std::to_string(now.time_since_epoch().count());
  send(resp::command({"SET", "clock", micros}), [](const auto&) {});
}

void VirtualRedis::start_over(Instant now) {
  send(resp::command({"FLUSHDB"}), [](const auto&) {});
  set_clock(now);
  wait();
}

void VirtualRedis::check(const redis_store::KeyCheck& check,
                         std::optional<Result<Decision>>& answer) {
  ++open_;
  store_->check({.checks = {check}}, far(), [this, &answer](const auto& said) {
    --open_;
    answer.emplace(said ? Result(said->front()) : Result<Decision>(said.error()));
  });
}

void VirtualRedis::check_all(redis_store::CheckRequest request,
                             std::optional<Result<std::vector<Decision>>>& answer) {
  ++open_;
  store_->check(std::move(request), far(), [this, &answer](auto said) {
    --open_;
    answer.emplace(std::move(said));
  });
}

void VirtualRedis::refund(redis_store::CheckRequest request,
                          std::optional<Result<std::vector<Decision>>>& answer) {
  ++open_;
  store_->refund(std::move(request), far(), [this, &answer](auto said) {
    --open_;
    answer.emplace(std::move(said));
  });
}

void VirtualRedis::lease(redis_store::KeyLeaseRequest ask,
                         std::optional<Result<store::LeaseGrant>>& answer) {
  leases_.push_back(std::move(ask));
  leased_.push_back(&answer);
}

void VirtualRedis::reset(std::vector<std::string> keys, std::optional<Result<bool>>& answer) {
  ++open_;
  std::vector<redis_store::ResetKey> both;
  for (std::string& key : keys) {
    std::string escrow = key;
    const std::size_t kind = escrow.find(":l:");
    if (kind != std::string::npos) escrow[kind + 1] = 'e';
    both.push_back({.key = std::move(key), .escrow = std::move(escrow)});
  }
  store_->reset(std::move(both), far(), [this, &answer](auto said) {
    --open_;
    answer.emplace(std::move(said));
  });
}

void VirtualRedis::block(const std::string& key, Duration duration,
                         std::optional<Result<bool>>& answer) {
  ++open_;
  store_->block(key, duration, far(), [this, &answer](auto said) {
    --open_;
    answer.emplace(std::move(said));
  });
}

void VirtualRedis::remove(const std::string& key) {
  send(resp::command({"DEL", key}), [](const auto&) {});
}

void VirtualRedis::ask(const std::function<void(const std::function<void()>& done)>& question) {
  ++open_;
  question([this] { --open_; });
  wait();
}

void VirtualRedis::wait() {
  if (!leases_.empty()) {
    open_ += leases_.size();
    store_->lease(std::exchange(leases_, {}), far(), [this](std::size_t ask, const auto& said) {
      --open_;
      if (!is_closing_) leased_[ask]->emplace(said);
    });
  }
  const base::Deadline end = far();
  while (open_ > 0) {
    io_.restart();
    io_.run_one_for(std::chrono::milliseconds{100});
    if (base::monotonic_now() > end) throw std::runtime_error("Redis does not answer");
  }
  leased_.clear();
}

std::vector<Stored> VirtualRedis::read_keys(const std::vector<std::string>& keys) {
  std::vector<Stored> stored(keys.size());
  resp::CommandWriter writer(3 + keys.size());
  writer.add("EVALSHA").add(read_keys_.sha1).add_number(static_cast<std::int64_t>(keys.size()));
  for (const std::string& key : keys) writer.add(key);
  send(std::move(writer).take(), [&](const Result<resp::Value>& said) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const resp::Value& bytes = said->elements.at(2 * i);
      if (bytes.is(resp::Value::Type::String)) stored[i].bytes = bytes.text;
      stored[i].expires_ms = said->elements.at(2 * i + 1).integer;
    }
  });
  wait();
  return stored;
}

}  // namespace penstock::differential
