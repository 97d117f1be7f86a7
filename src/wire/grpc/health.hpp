#pragma once

namespace penstock::wire::grpc {

class Call;

// grpc.health.v1 for "", "ratelimit" (what the reference server calls itself) and the name of the
// service. Check of others is NOT_FOUND; Watch says SERVICE_UNKNOWN and stays, as the protocol
// wants it.
void check_health(Call& call, bool serving);
void watch_health(Call& call, bool serving);
// To a Watch of a known service.
void send_not_serving(Call& call);

}  // namespace penstock::wire::grpc
