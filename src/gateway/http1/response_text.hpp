#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/downstream.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::gateway {

// How a body is carried to a client of HTTP/1: as it is, in chunks, or, to one of HTTP/1.0, up to
// the end of the connection.
[[nodiscard]] BodyFraming::Kind downstream_framing(const ClientResponseHead& head,
                                                   Version version) noexcept;

// What happens to the connection afterwards.
enum class AfterResponse : std::uint8_t { KeepAlive, Close };

// Appends the head of an answer of HTTP/1.1. `date` is the line of DateHeader.
void append_response_head(std::string& out, const ClientResponseHead& head,
                          BodyFraming::Kind framing, Version version, AfterResponse then,
                          std::string_view date);
// 100, 103: fields and nothing else.
void append_interim(std::string& out, const ClientResponseHead& head);

}  // namespace penstock::gateway
