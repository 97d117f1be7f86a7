#include "wire/grpc/status.hpp"

namespace penstock::wire::grpc {

std::string_view digits_of(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::Ok: return "0";
    case StatusCode::Unknown: return "2";
    case StatusCode::InvalidArgument: return "3";
    case StatusCode::DeadlineExceeded: return "4";
    case StatusCode::NotFound: return "5";
    case StatusCode::ResourceExhausted: return "8";
    case StatusCode::Unimplemented: return "12";
    case StatusCode::Internal: return "13";
    case StatusCode::Unavailable: return "14";
  }
  return "2";
}

unsigned http_status_class(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::Ok: return 2;
    case StatusCode::Unknown:
    case StatusCode::Internal:
    case StatusCode::Unavailable: return 5;
    default: return 4;
  }
}

std::string percent_encoded(std::string_view message) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  // It may contain input of the client, and a header that is too large is not sent at all.
  constexpr std::size_t kLongest = 1024;
  std::string text;
  for (const char letter : message.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0x20 && byte <= 0x7E && letter != '%') {
      text += letter;
    } else {
      text += {'%', kHex[byte / 16U], kHex[byte % 16U]};
    }
  }
  return text;
}

}  // namespace penstock::wire::grpc
