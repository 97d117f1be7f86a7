#pragma once

#include "service/answer.hpp"
#include "wire/resp/command_context.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// Replies of several elements.
namespace penstock::wire::resp {

// Parts with names: a map in RESP3, and in RESP2 an array of them in their order.
class NamedReply {
 public:
  NamedReply(ReplyWriter& reply, std::size_t parts)
      : reply_(reply), named_(reply.version() == penstock::resp::Version::Three) {
    if (named_) {
      reply.map(parts);
    } else {
      reply.array(parts);
    }
  }

  void number(std::string_view name, std::int64_t value) {
    put_name(name);
    reply_.integer(value);
  }
  // Null for an empty one.
  void text(std::string_view name, std::string_view value) {
    put_name(name);
    if (value.empty()) {
      reply_.null();
    } else {
      reply_.bulk(value);
    }
  }

 private:
  void put_name(std::string_view name) {
    if (named_) reply_.bulk(name);
  }

  ReplyWriter& reply_;
  bool named_;
};

// The decision about a request; -1 for missing values.
struct CheckReply {
  std::int64_t denied = 0;
  std::int64_t limit = -1;
  std::int64_t remaining = -1;
  std::int64_t retry_after_ms = -1;
  std::int64_t reset_after_ms = -1;
  std::string rule{};  // empty for none
  std::string_view reason{};
};
inline constexpr std::size_t kCheckReplyParts = 7;

[[nodiscard]] CheckReply check_reply_of(const service::Answer& answer);
void write(NamedReply& reply, const CheckReply& check_reply);

[[nodiscard]] std::int64_t in_milliseconds(Duration time);  // rounded up

}  // namespace penstock::wire::resp
