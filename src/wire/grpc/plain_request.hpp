#pragma once

#include "rules/model/request.hpp"

#include <string_view>

namespace penstock::wire::grpc {

// The fast path for the common RateLimitRequest: a domain and descriptors of entries, in ASCII,
// with or without hits_addend. False for every other message, valid or not, which protobuf and
// read_request() read; `out` is then unspecified. `out` keeps its buffers from call to call; its
// texts point into `bytes`.
//
// It reads as protobuf does: a test and a fuzz target compare them.
[[nodiscard]] bool read_plain_request(std::string_view bytes, rules::Request& out);

}  // namespace penstock::wire::grpc
