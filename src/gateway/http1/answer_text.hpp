#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/downstream.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::gateway {

// How a body is carried to a client of HTTP/1: as it is, in chunks, or, to one of HTTP/1.0, up to
// the end of the connection.
[[nodiscard]] BodyFraming::Kind downstream_framing(const AnswerHead& head,
                                                   Version version) noexcept;

// What happens to the connection afterwards.
enum class Then : std::uint8_t { KeepsAlive, Closes };

// Appends the head of an answer of HTTP/1.1. `date` is the line of DateLine.
void append_answer_head(std::string& out, const AnswerHead& head, BodyFraming::Kind framing,
                        Version version, Then then, std::string_view date);
// 100, 103: fields and nothing else.
void append_interim(std::string& out, const AnswerHead& head);

}  // namespace penstock::gateway
