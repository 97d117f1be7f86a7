#pragma once

#include "replay/format/log_record.hpp"

#include <array>
#include <string>
#include <string_view>

namespace penstock::replay {

// The combined and common formats of nginx and Apache, and access_log: combined of our gateway:
//
//     192.0.2.7 - alice [10/Oct/2026:13:55:36 +0200] "GET /a?b=c HTTP/1.1" 200 2326 "ref" "agent"
//
// Fields after the user agent are ignored. The format has neither host nor scheme, except for
// Apache's vhost_combined, which starts with the virtual host: "example.com:443 192.0.2.7 - alice".
class CombinedParser final : public LineParser {
 public:
  [[nodiscard]] LineOutcome parse(std::string_view line, LogRecord& record) override;

 private:
  [[nodiscard]] bool read_time(std::string_view text, Instant& time);

  // The lines of a second have the same text.
  std::string last_text_;
  Instant last_time_{};
};

// The text of a quoted field: \" \\ \xHH and the letters of C for control characters are decoded.
[[nodiscard]] std::string unescaped_log_text(std::string_view text);

}  // namespace penstock::replay
