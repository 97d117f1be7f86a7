// The minimum for grpc++ as a rate limit service: its callback server with a handler that returns
// OK. Usage: grpc_baseline HOST:PORT

#include <envoy/service/ratelimit/v3/rls.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>

namespace {

namespace rls = envoy::service::ratelimit::v3;

class EmptyService final : public rls::RateLimitService::CallbackService {
 public:
  grpc::ServerUnaryReactor* ShouldRateLimit(grpc::CallbackServerContext* context,
                                            const rls::RateLimitRequest* /*request*/,
                                            rls::RateLimitResponse* response) override {
    response->set_overall_code(rls::RateLimitResponse::OK);
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return EXIT_FAILURE;
  EmptyService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(arguments[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return EXIT_FAILURE;
  server->Wait();
  return EXIT_SUCCESS;
}
