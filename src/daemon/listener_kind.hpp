#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::daemon {

enum class ListenerKind : std::uint8_t { Http, Grpc, Resp, Gateway };

// The label in metrics and logs.
[[nodiscard]] constexpr std::string_view to_string(ListenerKind kind) {
  switch (kind) {
    case ListenerKind::Http: return "http";
    case ListenerKind::Grpc: return "grpc";
    case ListenerKind::Resp: return "resp";
    case ListenerKind::Gateway: return "gateway";
  }
  return "";
}

// The section of the configuration file.
[[nodiscard]] constexpr std::string_view settings_section(ListenerKind kind) {
  return kind == ListenerKind::Http ? "server" : to_string(kind);
}

}  // namespace penstock::daemon
