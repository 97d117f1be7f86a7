#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/downstream.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::gateway {

// How a body is framed for an HTTP/1 client: unchanged, chunked, or, for HTTP/1.0, until the
// connection closes.
[[nodiscard]] BodyFraming::Kind downstream_framing(const ClientResponseHead& head,
                                                   Version version) noexcept;

// Appends the head of an HTTP/1.1 response. `date` is the line from DateHeader.
void append_response_head(std::string& out, const ClientResponseHead& head,
                          BodyFraming::Kind framing, Version version, AfterResponse then,
                          std::string_view date);
// Appends an interim response (100, 103), which has no body.
void append_interim(std::string& out, const ClientResponseHead& head);

}  // namespace penstock::gateway
