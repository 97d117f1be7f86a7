// A rate limit service with one Redis call per request, as is common: INCRBY and
// EXPIRE for each descriptor in one pipeline, on a connection of a pool that serves one request at
// a time. Fixed windows; the limit is that of the descriptor, or a billion per second. Usage:
// grpc_redis_baseline HOST:PORT REDIS_HOST REDIS_PORT CONNECTIONS

#include <envoy/service/ratelimit/v3/rls.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace rls = envoy::service::ratelimit::v3;
using Descriptor = envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
using Context = std::unique_ptr<redisContext, decltype(&redisFree)>;

struct Limit {
  std::uint32_t requests = 1'000'000'000;
  std::int64_t seconds = 1;
};

Limit limit_of(const Descriptor& descriptor) {
  if (!descriptor.has_limit()) return {};
  constexpr std::int64_t kSeconds[] = {1, 1, 60, 3600, 86'400};
  const int unit = std::clamp<int>(descriptor.limit().unit(), 0, 4);
  return {.requests = descriptor.limit().requests_per_unit(), .seconds = kSeconds[unit]};
}

std::string key_of(const std::string& domain, const Descriptor& descriptor, const Limit& limit) {
  std::string key = domain;
  for (const Descriptor::Entry& entry : descriptor.entries()) {
    key.append("_").append(entry.key()).append("_").append(entry.value());
  }
  const std::int64_t now = std::time(nullptr);
  return key.append("_").append(std::to_string(now - now % limit.seconds));
}

// The usage of one descriptor; discards the reply to EXPIRE. -1 if Redis does not answer.
long long take_reply(redisContext& redis) {
  long long used = -1;
  for (int i = 0; i < 2; ++i) {
    void* reply = nullptr;
    if (redisGetReply(&redis, &reply) != REDIS_OK) return -1;
    const auto* const reply_value = static_cast<redisReply*>(reply);
    if (i == 0 && reply_value->type == REDIS_REPLY_INTEGER) used = reply_value->integer;
    freeReplyObject(reply);
  }
  return used;
}

grpc::Status answer(redisContext& redis, const rls::RateLimitRequest& request,
                    rls::RateLimitResponse& response) {
  const std::uint32_t hits = std::max<std::uint32_t>(request.hits_addend(), 1);
  std::vector<Limit> limits;
  for (const Descriptor& descriptor : request.descriptors()) {
    const Limit limit = limits.emplace_back(limit_of(descriptor));
    const std::string key = key_of(request.domain(), descriptor, limit);
    redisAppendCommand(&redis, "INCRBY %b %u", key.data(), key.size(), hits);
    redisAppendCommand(&redis, "EXPIRE %b %lld", key.data(), key.size(),
                       static_cast<long long>(limit.seconds));
  }
  bool over = false;
  for (const Limit& limit : limits) {
    const long long used = take_reply(redis);
    if (used < 0) return {grpc::StatusCode::UNAVAILABLE, "Redis does not answer"};
    rls::RateLimitResponse::DescriptorStatus& status = *response.add_statuses();
    const bool is_over = used > limit.requests;
    over = over || is_over;
    status.set_code(is_over ? rls::RateLimitResponse::OVER_LIMIT : rls::RateLimitResponse::OK);
    status.mutable_current_limit()->set_requests_per_unit(limit.requests);
    if (!is_over) status.set_limit_remaining(static_cast<std::uint32_t>(limit.requests - used));
  }
  response.set_overall_code(over ? rls::RateLimitResponse::OVER_LIMIT : rls::RateLimitResponse::OK);
  return grpc::Status::OK;
}

struct Job {
  const rls::RateLimitRequest* request;
  rls::RateLimitResponse* response;
  grpc::ServerUnaryReactor* reactor;
};

// Threads with a connection each.
class Pool {
 public:
  Pool(const std::string& host, int port, int connections) {
    for (int i = 0; i < connections; ++i) {
      threads_.emplace_back([this, host, port] { work(host, port); });
    }
  }

  void add(Job job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(job);
    }
    ready_.notify_one();
  }

 private:
  void work(const std::string& host, int port) {
    const Context redis(redisConnect(host.c_str(), port), &redisFree);
    if (redis == nullptr || redis->err != 0) std::abort();
    for (;;) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return !jobs_.empty(); });
      const Job job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      job.reactor->Finish(answer(*redis, *job.request, *job.response));
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Job> jobs_;
  std::vector<std::jthread> threads_;
};

class PoolService final : public rls::RateLimitService::CallbackService {
 public:
  explicit PoolService(Pool& pool) : pool_(pool) {}

  grpc::ServerUnaryReactor* ShouldRateLimit(grpc::CallbackServerContext* context,
                                            const rls::RateLimitRequest* request,
                                            rls::RateLimitResponse* response) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    pool_.add({.request = request, .response = response, .reactor = reactor});
    return reactor;
  }

 private:
  Pool& pool_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return EXIT_FAILURE;
  Pool pool(arguments[2], std::atoi(arguments[3]), std::atoi(arguments[4]));
  PoolService service(pool);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(arguments[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return EXIT_FAILURE;
  server->Wait();
  return EXIT_SUCCESS;
}
