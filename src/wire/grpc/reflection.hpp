#pragma once

namespace penstock::wire::grpc {

class Call;

// Answers one message of grpc.reflection, which is the same in v1 and v1alpha: the services and
// their .proto files.
void answer_reflection(Call& call);

}  // namespace penstock::wire::grpc
