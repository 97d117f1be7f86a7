#pragma once

#include "rules/model/request.hpp"

#include <string_view>

namespace penstock::wire::grpc {

// The quick way to read a RateLimitRequest, for those that nearly all are: a domain and descriptors
// of entries, in ASCII, with hits_addend or without. False for every other one, good or bad, which
// protobuf and read_request() have to look at; `out` then holds anything. `out` keeps its buffers
// from call to call; its texts are those of `bytes`.
//
// What it reads, it reads as protobuf does: a test and a fuzz target hold them together.
[[nodiscard]] bool read_plain_request(std::string_view bytes, rules::Request& out);

}  // namespace penstock::wire::grpc
