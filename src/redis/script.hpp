#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::redis {

// A Lua script as a server knows it: by the SHA-1 of its text, in lower case hexadecimal.
struct Script {
  std::string text;
  std::string sha1;

  [[nodiscard]] static Script from(std::string text);
};

// The encoded command "EVALSHA sha1 …" as "EVAL text …", for a server that has forgotten the
// script. Nothing if it is no EVALSHA of this script.
[[nodiscard]] std::optional<std::string> with_script_text(std::string_view evalsha,
                                                          const Script& script);

}  // namespace penstock::redis
