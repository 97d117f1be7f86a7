// Calls a gRPC listener with grpc++: grpc_client PORT SCENARIO. Prints one line with the observed
// outcomes.
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/credentials.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::grpc::reflection::v1::ServerReflectionRequest;
using ::grpc::reflection::v1::ServerReflectionResponse;
using Counts = std::map<std::string, int>;

constexpr std::chrono::milliseconds kTimeout{10'000};
const char* const kShouldRateLimit = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

RateLimitRequest question(const std::map<std::string, std::string>& facts) {
  RateLimitRequest request;
  request.set_domain("edge");
  auto* descriptor = request.add_descriptors();
  for (const auto& [key, value] : facts) {
    auto* entry = descriptor->add_entries();
    entry->set_key(key);
    entry->set_value(value);
  }
  return request;
}

RateLimitRequest login(const std::string& address) {
  return question({{"route", "login"}, {"remote_address", address}});
}

// A call and its result. Not moved until `done` is ready.
template <typename Request, typename Response>
struct Call {
  Call(std::shared_ptr<::grpc::Channel> channel, const std::string& method, Request asked,
       std::chrono::milliseconds timeout)
      : stub(std::move(channel)), request(std::move(asked)) {
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    stub.UnaryCall(&context, method, ::grpc::StubOptions(), &request, &response,
                   [this](::grpc::Status status) { finished.set_value(std::move(status)); });
  }

  // Its code, or the gRPC status number.
  std::string outcome() {
    const ::grpc::Status status = done.get();
    if (!status.ok()) return "status" + std::to_string(status.error_code());
    if constexpr (std::is_same_v<Response, RateLimitResponse>) {
      return RateLimitResponse::Code_Name(response.overall_code());
    } else {
      return Response::ServingStatus_Name(response.status());
    }
  }

  ::grpc::TemplatedGenericStub<Request, Response> stub;
  ::grpc::ClientContext context;
  Request request;
  Response response;
  std::promise<::grpc::Status> finished;
  std::future<::grpc::Status> done = finished.get_future();
};
using LimitCall = Call<RateLimitRequest, RateLimitResponse>;

class Client {
 public:
  explicit Client(const std::string& port) {
    ::grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ = ::grpc::CreateCustomChannel("127.0.0.1:" + port,
                                           ::grpc::InsecureChannelCredentials(), arguments);
  }

  std::unique_ptr<LimitCall> ask(RateLimitRequest request,
                                 std::chrono::milliseconds timeout = kTimeout) {
    return std::make_unique<LimitCall>(channel_, kShouldRateLimit, std::move(request), timeout);
  }

  std::string health(const std::string& service) {
    HealthCheckRequest request;
    request.set_service(service);
    return Call<HealthCheckRequest, HealthCheckResponse>(channel_, "/grpc.health.v1.Health/Check",
                                                         request, kTimeout)
        .outcome();
  }

  // The first message of a stream, which is then cancelled.
  template <typename Request, typename Response>
  Response first_of_stream(const std::string& method, const Request& request) {
    ::grpc::TemplatedGenericStub<Request, Response> stub(channel_);
    ::grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kTimeout);
    ::grpc::CompletionQueue queue;
    auto stream = stub.PrepareCall(&context, method, &queue);
    const auto wait = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    Response response;
    ::grpc::Status status;
    stream->StartCall(nullptr);
    wait();
    stream->WriteLast(request, {}, nullptr);
    wait();
    stream->Read(&response, nullptr);
    wait();
    context.TryCancel();
    stream->Finish(&status, nullptr);
    wait();
    return response;
  }

 private:
  std::shared_ptr<::grpc::Channel> channel_;
};

void print(const Counts& counts) {
  for (const auto& [outcome, count] : counts) std::cout << outcome << ' ' << count << ' ';
}

void decisions(Client& client) {
  for (int i = 0; i < 4; ++i) {
    auto call = client.ask(login("cpp"));
    std::cout << call->outcome() << ' ';
    const auto& status = call->response.statuses(0);
    std::cout << status.current_limit().name() << ' ' << status.limit_remaining() << ' ';
  }
}

void mistakes(Client& client) {
  std::cout << client.ask(question({{"a", std::string(2U << 20U, 'x')}}))->outcome() << ' ';
  std::cout << client.ask(login("after"))->outcome();
}

Counts outcomes(std::vector<std::unique_ptr<LimitCall>>& calls) {
  Counts counts;
  for (auto& call : calls) ++counts[call->outcome()];
  return counts;
}

void crowd(Client& client) {
  std::vector<std::unique_ptr<LimitCall>> calls;
  for (int i = 0; i < 1000; ++i) calls.push_back(client.ask(question({{"route", "crowd"}})));
  print(outcomes(calls));
}

void health(Client& client) {
  const auto watched = client.first_of_stream<HealthCheckRequest, HealthCheckResponse>(
      "/grpc.health.v1.Health/Watch", {});
  std::cout << client.health("") << ' ' << client.health("nothing") << ' '
            << HealthCheckResponse::ServingStatus_Name(watched.status());
}

void reflection(Client& client) {
  ServerReflectionRequest request;
  request.set_list_services("*");
  const auto listed = client.first_of_stream<ServerReflectionRequest, ServerReflectionResponse>(
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", request);
  for (const auto& service : listed.list_services_response().service()) {
    std::cout << service.name() << ' ';
  }
}

// The store does not respond.
void deadline(Client& client) {
  std::cout << client.ask(login("late"), std::chrono::milliseconds(100))->outcome();
}

void cancel(Client& client) {
  std::vector<std::unique_ptr<LimitCall>> calls;
  for (int i = 0; i < 200; ++i) calls.push_back(client.ask(login("cancelled" + std::to_string(i))));
  for (auto& call : calls) call->context.TryCancel();
  print(outcomes(calls));
}

// Calls until the daemon shuts down, and prints the outcome of each call.
void shutdown(Client& client) {
  std::atomic<int> answered = 0;
  std::vector<std::future<Counts>> crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.push_back(std::async(std::launch::async, [&client, &answered] {
      Counts counts;
      while (true) {
        const std::string outcome = client.ask(question({{"route", "total"}}))->outcome();
        ++counts[outcome];
        if (++answered == 200) std::cerr << "in flight\n";
        if (outcome.starts_with("status")) return counts;
      }
    }));
  }
  Counts sum;
  for (auto& each : crowd) {
    for (const auto& [outcome, count] : each.get()) sum[outcome] += count;
  }
  print(sum);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(Client&)>> scenarios{
      {"decisions", decisions}, {"mistakes", mistakes},     {"crowd", crowd},
      {"health", health},       {"reflection", reflection}, {"deadline", deadline},
      {"cancel", cancel},       {"shutdown", shutdown},
  };
  const auto found = argc == 3 ? scenarios.find(argv[2]) : scenarios.end();
  if (found == scenarios.end()) {
    std::cerr << "usage: grpc_client PORT SCENARIO\n";
    return 2;
  }
  Client client(argv[1]);
  found->second(client);
  std::cout << '\n';
  return 0;
}
