#pragma once

#include "http/message.hpp"
#include "rules/settings/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::http {

// The actor of a call without a token.
inline constexpr std::string_view kLocalActor = "local";

// Who makes a call, or the response that rejects it.
struct Caller {
  std::string actor{};
  std::optional<Response> rejected{};
};

// Whether this request may change something: with one of the tokens, or on a loopback listener if
// no page of another origin sent it.
[[nodiscard]] Caller authorize_write(const Request& request, std::span<const rules::Token> tokens);

// Whether this request may read what operators read: as above, except that on a loopback listener
// only the Host matters. It must be an IP address, localhost or a name in the configuration: the
// page of a name that an attacker lets resolve to this machine (DNS rebinding) has that name in it.
[[nodiscard]] Caller authorize_read(const Request& request, std::span<const rules::Token> tokens,
                                    std::span<const std::string> configured_hosts = {});

}  // namespace penstock::http
