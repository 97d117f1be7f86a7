#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace penstock {

enum class ErrorCode : std::uint8_t {
  InvalidInput,       // an argument is invalid; the detail names it
  Overflow,           // the result does not fit its type; nothing was changed
  CapacityExhausted,  // a hard bound was reached; nothing was changed
  // Failures of a remote store. A failure is not a denial.
  Unavailable,     // cannot be reached or does not serve; nothing was changed
  Overloaded,      // too many calls in flight; nothing was changed
  Timeout,         // no answer in time; a change is possible
  ConnectionLost,  // after the call was sent; a change is possible
  Misconfigured,   // wrong password, missing permission, bad certificate
  Protocol,        // an invalid reply; the detail contains it
};

[[nodiscard]] constexpr std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::InvalidInput: return "invalid input";
    case ErrorCode::Overflow: return "overflow";
    case ErrorCode::CapacityExhausted: return "capacity exhausted";
    case ErrorCode::Unavailable: return "unavailable";
    case ErrorCode::Overloaded: return "overloaded";
    case ErrorCode::Timeout: return "timeout";
    case ErrorCode::ConnectionLost: return "connection lost";
    case ErrorCode::Misconfigured: return "misconfigured";
    case ErrorCode::Protocol: return "protocol error";
  }
  return "unknown";
}

// Why a call failed. A denial is not an error: see Decision.
struct Error {
  ErrorCode code = ErrorCode::InvalidInput;
  std::string detail;

  friend bool operator==(const Error&, const Error&) = default;
};

// A T or an Error, with the names of std::expected. Reading the value of an error, or the error of
// a value, is a bug and ends the process.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that functions can return a value or an Error.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return content_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] const T& value() const& { return *checked<0>(std::get_if<0>(&content_)); }
  [[nodiscard]] T& value() & { return *checked<0>(std::get_if<0>(&content_)); }
  [[nodiscard]] T&& value() && { return std::move(*checked<0>(std::get_if<0>(&content_))); }
  [[nodiscard]] const Error& error() const { return *checked<1>(std::get_if<1>(&content_)); }

  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }
  [[nodiscard]] T* operator->() { return &value(); }

 private:
  template <int Alternative, class Pointer>
  static Pointer checked(Pointer pointer) {
    if (pointer == nullptr) std::abort();
    return pointer;
  }

  std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  [[nodiscard]] bool has_value() const noexcept { return !failed_; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const Error& error() const {
    if (!failed_) std::abort();
    return error_;
  }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace penstock
