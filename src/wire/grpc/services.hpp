#pragma once

// The services beside the rate limits.
namespace penstock::wire::grpc {

class Call;

// grpc.health.v1 for "", "ratelimit" (the name in the reference server) and the name of the
// service. Check of others is NOT_FOUND; Watch sends SERVICE_UNKNOWN and stays open, by the
// protocol.
void check_health(Call& call, bool serving);
void watch_health(Call& call, bool serving);
// To a Watch of a known service.
void send_not_serving(Call& call);

// Answers one message of grpc.reflection, which is the same in v1 and v1alpha: the services and
// their .proto files.
void answer_reflection(Call& call);

}  // namespace penstock::wire::grpc
