#include "rules/settings/section_options.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

// The bearer tokens of `server`.
namespace penstock::rules {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
// The action log shows this name for calls without a token.
constexpr std::string_view kReservedName = "local";

bool is_name(std::string_view text) {
  constexpr std::string_view kPunctuation = ".-_@";
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), [&](char letter) {
           const auto byte = static_cast<unsigned char>(letter);
           return (byte < 0x80 && std::isalnum(byte) != 0) ||
                  kPunctuation.find(letter) != std::string_view::npos;
         });
}

// Tokens without a name are called "token", "token 2" and so on.
void add_unnamed(std::vector<Token>& tokens, std::size_t& unnamed, std::string_view secret) {
  ++unnamed;
  tokens.push_back({.name = unnamed == 1 ? "token" : "token " + std::to_string(unnamed),
                    .secret = std::string(secret)});
}

void read_token(const OptionValue& value, HttpSettings& http) {
  http.tokens.clear();
  std::size_t unnamed = 0;
  for (const std::string& secret : read_secrets(value.node)) {
    add_unnamed(http.tokens, unnamed, secret);
  }
}

bool check_name(const YamlNode& node, std::string_view name) {
  if (name == kReservedName) {
    node.error("tokens: \"local\" is the name of calls without a token");
    return false;
  }
  if (is_name(name)) return true;
  node.error("tokens: expected a name of at most 64 letters, digits, '.', '-', '_' or '@', found " +
             quote_value(name));
  return false;
}

void read_tokens(const OptionValue& value, HttpSettings& http) {
  http.named_tokens.clear();
  if (!value.node.is_map()) {
    value.node.expected("names and tokens, such as {alice: SECRET}");
    return;
  }
  for (const YamlEntry& entry : value.node.entries()) {
    if (!check_name(entry.key, entry.key.raw())) continue;
    for (std::string& secret : read_secrets(entry.value)) {
      http.named_tokens.push_back(
          {.name = std::string(entry.key.raw()), .secret = std::move(secret)});
    }
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// "alice: SECRET", or a secret that may contain a colon. The name is empty without one.
Token token_in(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_name(name)) return {{}, std::string(line)};
  const std::string_view rest = line.substr(colon + 1);
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return {{}, std::string(line)};
  return {std::string(name), std::string(trimmed(rest))};
}

void read_token_file(const OptionValue& value, HttpSettings& http) {
  const auto text = read_secret_file(value, "token");
  if (!text) return;
  http.tokens.clear();
  const std::string path = read_path(value.node).value_or("");
  std::size_t unnamed = 0;
  std::size_t number = 0;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    Token token = token_in(trimmed(line));
    if (token.name.empty()) {
      if (!token.secret.empty()) add_unnamed(http.tokens, unnamed, token.secret);
    } else if (token.secret.empty()) {
      value.node.error("token_file: " + path + ":" + std::to_string(number) + ": \"" + token.name +
                       "\" has no token");
    } else if (check_name(value.node, token.name)) {
      http.tokens.push_back(std::move(token));
    }
  }
  const bool is_blank = text->find_first_not_of(" \t\r\n") == std::string::npos;
  if (is_blank) value.node.error("token_file: " + path + " is empty");
}

}  // namespace

void check_tokens(const YamlFields& fields, Settings& settings, LoadState& /*state*/) {
  const std::vector<Token> tokens = settings.http.all_tokens();
  for (auto token = tokens.begin(); token != tokens.end(); ++token) {
    const auto first = std::find_if(
        tokens.begin(), token, [&](const Token& other) { return other.secret == token->secret; });
    if (first == token) continue;
    fields.map().warning("tokens \"" + first->name + "\" and \"" + token->name +
                         "\" are the same: the action log cannot tell them apart");
  }
}

Option<HttpSettings> token_option() {
  return custom("token", &HttpSettings::tokens, "secret", read_token,
                "bearer token for calls that change something, required unless the daemon listens "
                "on loopback only; or a list of valid tokens");
}

Option<HttpSettings> tokens_option() {
  return custom(
      "tokens", &HttpSettings::named_tokens, "{alice: secret}", read_tokens,
      "bearer tokens with names, which the action log shows: `{alice: SECRET}`; a list of "
      "secrets is valid too. In addition to `token`");
}

Option<HttpSettings> token_file_option() {
  return {.key = "token_file",
          .help =
              "file that contains the token, or several, one per line, each with or without a "
              "name (`alice: SECRET`); replaces `token`",
          .default_text = "none",
          .read = read_token_file};
}

}  // namespace penstock::rules
