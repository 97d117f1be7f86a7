#pragma once

namespace penstock::wire::grpc {

class Call;

// Answers one message of grpc.reflection, which is the same in v1 and v1alpha: which services there
// are, and the .proto files of what they use.
void answer_reflection(Call& call);

}  // namespace penstock::wire::grpc
