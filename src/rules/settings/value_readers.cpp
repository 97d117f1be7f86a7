#include "base/text.hpp"
#include "rules/settings/section_options.hpp"

#include <sstream>
#include <utility>

namespace penstock::rules {
namespace {

constexpr std::size_t kMaxSecret = std::size_t{64} * 1024;

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (in_brackets != (host.find(':') != std::string_view::npos) || host.empty()) {
    return std::nullopt;
  }
  const auto port = base::parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  return Address{.host = std::string(host), .port = *port};
}

std::optional<Address> read_address(const YamlNode& node) {
  std::optional<Address> address = node.is_text() ? parse_address(node.raw()) : std::nullopt;
  if (!address) node.expected("an address such as 127.0.0.1:8080 or [::1]:8080");
  return address;
}

std::vector<Address> read_addresses(const YamlNode& node) {
  std::vector<Address> addresses;
  for (const YamlNode& one : node.one_or_list()) {
    if (auto address = read_address(one)) addresses.push_back(std::move(*address));
  }
  if (node.is_list() && node.list().empty()) node.error("listen: no address at all");
  return addresses;
}

std::vector<std::string> read_secrets(const YamlNode& node) {
  std::vector<std::string> secrets;
  for (const YamlNode& one : node.one_or_list()) {
    if (const auto secret = one.text()) secrets.emplace_back(*secret);
  }
  return secrets;
}

std::optional<std::string> read_secret_file(const OptionValue& value, std::string_view direct) {
  const YamlNode& node = value.node;
  const std::string key(node.label());
  if (value.fields.find(direct)) {
    node.error("give either " + std::string(direct) + " or " + key);
    return std::nullopt;
  }
  const std::optional<std::string> path = read_path(node);
  if (!path) return std::nullopt;
  value.state.files.emplace_back(*path);
  Result<std::string> text = read_text_file(*path, kMaxSecret);
  if (!text) {
    node.error(key + ": " + text.error().detail);
    return std::nullopt;
  }
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty()) {
    node.error(key + ": " + *path + " is empty");
    return std::nullopt;
  }
  return *std::move(text);
}

std::vector<std::string> secrets_of(const std::string& text) {
  std::vector<std::string> secrets;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) secrets.push_back(line);
  }
  return secrets;
}

std::vector<HeaderDraft> read_headers(const YamlNode& node) {
  std::vector<HeaderDraft> drafts;
  for (const YamlNode& one : node.one_or_list()) {
    const auto draft = one.choice<HeaderDraft>({{"off", HeaderDraft::Off},
                                                {"x-ratelimit", HeaderDraft::XRateLimit},
                                                {"x-ratelimit-unix", HeaderDraft::XRateLimitUnix},
                                                {"draft-06", HeaderDraft::Draft06},
                                                {"draft-07", HeaderDraft::Draft07},
                                                {"draft-08", HeaderDraft::Draft08}});
    if (!draft) continue;
    if (node.is_list() && *draft == HeaderDraft::Off) {
      one.error("headers: off stands alone, not in a list");
    } else if (*draft != HeaderDraft::Off) {
      drafts.push_back(*draft);
    }
  }
  return drafts;
}

std::string_view folding(const PathSettings& paths, std::string_view option) {
  return paths.letter_case == PathSettings::LetterCase::Insensitive ? option : std::string_view{};
}

}  // namespace penstock::rules
