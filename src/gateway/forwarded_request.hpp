#pragma once

#include "gateway/forwarded_fields.hpp"
#include "gateway/request_head.hpp"
#include "penstock/result.hpp"

#include <string>
#include <string_view>

namespace penstock::gateway {

// The protocol that a request wants to change to, such as "websocket"; empty for none. HTTP/2 is
// none: what came after the change would not be asked about.
[[nodiscard]] std::string_view wanted_upgrade(const RequestHead& head);

// How the body goes to an upstream: with its length when the client has given one, else in chunks.
// HTTP/2 says the end of a body by itself.
[[nodiscard]] BodyFraming upstream_framing(const RequestHead& head) noexcept;

// The path as it is forwarded. InvalidInput when it is not written with the prefix that has to be
// taken off: it would reach another place than the rules were asked about.
[[nodiscard]] Result<std::string_view> without_prefix(std::string_view path,
                                                      std::string_view prefix);

// The head of a request as an upstream gets it: what was about the client's connection is gone,
// where it came from is added.
[[nodiscard]] std::string forwarded_head(const RequestHead& head, std::string_view path,
                                         Origin origin);

}  // namespace penstock::gateway
