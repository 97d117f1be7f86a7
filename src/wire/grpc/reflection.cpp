#include "wire/grpc/call.hpp"
#include "wire/grpc/services.hpp"

#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpc/health/v1/health.pb.h>
#include <grpc/reflection/v1/reflection.pb.h>
#include <grpc/reflection/v1alpha/reflection.pb.h>

#include <array>
#include <string>

namespace penstock::wire::grpc {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using ::grpc::reflection::v1::ServerReflectionRequest;
using ::grpc::reflection::v1::ServerReflectionResponse;

constexpr std::array kServices{"envoy.service.ratelimit.v3.RateLimitService",
                               "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                               "grpc.reflection.v1alpha.ServerReflection"};

// The files that the program uses are in the pool; v1alpha has to be added.
const DescriptorPool& pool() {
  static_cast<void>(::grpc::reflection::v1alpha::ServerReflectionRequest::descriptor());
  return *DescriptorPool::generated_pool();
}

void put_error(ServerReflectionResponse& response, StatusCode code, const std::string& text) {
  response.mutable_error_response()->set_error_code(static_cast<int>(code));
  response.mutable_error_response()->set_error_message(text);
}

void put_file(ServerReflectionResponse& response, const FileDescriptor* file,
              const std::string& asked) {
  if (file == nullptr) return put_error(response, StatusCode::NotFound, "unknown: " + asked);
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  proto.SerializeToString(response.mutable_file_descriptor_response()->add_file_descriptor_proto());
}

void put_services(ServerReflectionResponse& response) {
  for (const char* const name : kServices) {
    response.mutable_list_services_response()->add_service()->set_name(name);
  }
}

void put_answer(ServerReflectionResponse& response, const ServerReflectionRequest& request) {
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices: return put_services(response);
    case ServerReflectionRequest::kFileByFilename: {
      const std::string& name = request.file_by_filename();
      return put_file(response, pool().FindFileByName(name), name);
    }
    case ServerReflectionRequest::kFileContainingSymbol: {
      const std::string& symbol = request.file_containing_symbol();
      return put_file(response, pool().FindFileContainingSymbol(symbol), symbol);
    }
    case ServerReflectionRequest::kFileContainingExtension:
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      return put_error(response, StatusCode::NotFound, "there are no extensions");
    default: return put_error(response, StatusCode::Unimplemented, "unknown question");
  }
}

}  // namespace

void answer_reflection(Call& call) {
  const std::string_view message = call.message();
  ServerReflectionResponse response;
  ServerReflectionRequest& request = *response.mutable_original_request();
  if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return call.end(
        {.code = StatusCode::Internal, .message = "cannot read ServerReflectionRequest"});
  }
  response.set_valid_host(request.host());
  put_answer(response, request);
  call.send(response);
}

}  // namespace penstock::wire::grpc
