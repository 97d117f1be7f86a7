#include "redis/sentinel.hpp"

#include "base/check.hpp"
#include "base/text.hpp"
#include "redis/retry.hpp"
#include "redis/server_error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace penstock::redis {
namespace {

using Type = resp::Value::Type;

std::optional<HostPort> address(std::string_view host, std::string_view port) {
  const auto number = base::parse_number<std::uint16_t>(port);
  if (host.empty() || !number || *number == 0) return std::nullopt;
  return HostPort{.host = std::string(host), .port = *number};
}

std::string_view next_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

SentinelOrder::SentinelOrder(std::vector<HostPort> sentinels) : sentinels_(std::move(sentinels)) {
  PENSTOCK_CHECK(!sentinels_.empty());
}

void SentinelOrder::on_failure(const HostPort& sentinel) {
  if (sentinels_.front() == sentinel) {
    std::rotate(sentinels_.begin(), sentinels_.begin() + 1, sentinels_.end());
  }
}

Result<HostPort> read_master_address(const resp::Value& reply, std::string_view name) {
  if (reply.is(Type::Error)) return error_for_caller(read_server_error(reply.text), reply.text);
  if (reply.is(Type::Nil)) {
    return Error{ErrorCode::Misconfigured, "knows no master \"" + std::string(name) + "\""};
  }
  const std::vector<resp::Value>& parts = reply.elements;
  std::optional<HostPort> found;
  if (parts.size() == 2) found = address(parts[0].text, parts[1].text);
  if (!found) return Error{ErrorCode::Protocol, "returned no address of the master"};
  return *std::move(found);
}

std::optional<HostPort> read_switch_master(const resp::Value& message, std::string_view name) {
  // ["message", "+switch-master", "name old-host old-port new-host new-port"]
  if (message.elements.size() != 3 || message.elements[0].text != "message") return std::nullopt;
  std::string_view text = message.elements[2].text;
  std::array<std::string_view, 5> words{};
  for (std::string_view& word : words) word = next_word(text);
  if (words[0] != name) return std::nullopt;
  return address(words[3], words[4]);
}

}  // namespace penstock::redis
