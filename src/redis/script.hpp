#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::redis {

// A Lua script, identified by the SHA-1 of its text in lower-case hexadecimal.
struct Script {
  std::string text;
  std::string sha1;

  [[nodiscard]] static Script from(std::string text);
};

// The encoded command "EVALSHA sha1 …" as "EVAL text …", for a server without the script in its
// cache. Empty if it is not an EVALSHA of this script.
[[nodiscard]] std::optional<std::string> with_script_text(std::string_view evalsha,
                                                          const Script& script);

}  // namespace penstock::redis
