#pragma once

#include "http/client_address.hpp"
#include "http/message.hpp"
#include "penstock/result.hpp"
#include "rules/settings/settings.hpp"
#include "service/service.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {

// Settings of the API.
struct ApiSettings {
  std::vector<rules::HeaderDraft> headers{};
  std::vector<rules::Token> tokens{};  // any of them will do
  std::vector<std::string> hosts{};    // the names in the addresses of the listeners
  rules::ForwardAuthSettings forward_auth{};
  // Of limits that travel with the request and do not name a policy.
  rules::OnFailure on_failure = rules::OnFailure::Closed;
  TrustedProxies trusted_proxies{};
};

// A request on its way to the function that answers it. All but `respond` outlive the answer.
struct Call {
  const Request& request;
  std::vector<std::string_view> segments;  // of the path, still encoded
  service::Backend& backend;
  const ApiSettings& settings;
  std::string actor;  // who makes a writing call: the name of the token, or "local"
  Handler::Respond respond;
};

// The calls of docs/reference/http-api.md, each in the file named after its subject.
void check(Call call);
void check_many(Call call);
void explain(Call call);
void usage(Call call);
void take(Call call);
void envoy_check(Call call);
void forward_auth(Call call);
void peek_key(Call call);
void reset_key(Call call);
void refund_key(Call call);
void block_key(Call call);
void unblock_key(Call call);
void add_to_counter(Call call);
void read_counter(Call call);
void remove_counter(Call call);
void reserve(Call call);
void commit(Call call);
void cancel(Call call);
void acquire(Call call);
void renew(Call call);
void release(Call call);
void set_override(Call call);
void list_overrides(Call call);
void remove_override(Call call);
void list_actions(Call call);

// The request is invalid; the text says why.
[[nodiscard]] inline Error invalid_input(std::string text) {
  return {ErrorCode::InvalidInput, std::move(text)};
}

// Reasons of operators are no longer than this.
inline constexpr std::size_t kMaxReasonBytes = 500;

// Keys, subjects and names of counters are no longer than this.
inline constexpr std::size_t kMaxKeyBytes = 4096;
// A segment of a path as such a name. `what` is its name in the error.
[[nodiscard]] Result<std::string> name_in_path(std::string_view segment, std::string_view what);

}  // namespace penstock::http
