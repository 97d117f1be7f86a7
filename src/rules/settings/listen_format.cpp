#include "rules/settings/listen_format.hpp"

#include "base/parse_number.hpp"
#include "rules/settings/known_keys.hpp"
#include "rules/yaml/scalar_fields.hpp"

#include <sstream>
#include <utility>

namespace penstock::rules {
namespace {

constexpr std::size_t kMaxSecret = 64 * 1024;

// What the file holds, without the end of its last line. Empty: none is named, or an error is told.
std::optional<std::string> read_secret_file(const YamlFields& fields, std::string_view direct,
                                            std::string_view in_file, LoadState& state) {
  const auto node = fields.find(in_file);
  if (!node) return std::nullopt;
  if (fields.find(direct)) {
    node->error("give either " + std::string(direct) + " or " + std::string(in_file));
    return std::nullopt;
  }
  std::string path;
  read_path(fields, in_file, path);
  if (path.empty()) return std::nullopt;
  state.files.emplace_back(path);
  Result<std::string> text = read_text_file(path, kMaxSecret);
  if (!text) {
    node->error(std::string(in_file) + ": " + text.error().detail);
    return std::nullopt;
  }
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty()) {
    node->error(std::string(in_file) + ": " + path + " is empty");
    return std::nullopt;
  }
  return *std::move(text);
}

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

void read_addresses(const YamlFields& fields, std::vector<Address>& addresses) {
  const auto listen = fields.find("listen");
  if (!listen) return;
  addresses.clear();
  for (const YamlNode& node : listen->one_or_list()) {
    if (auto address = read_address(node)) addresses.push_back(std::move(*address));
  }
  if (listen->is_list() && listen->list().empty()) listen->error("listen: no address at all");
}

void read_secret(const YamlFields& fields, std::string_view direct, std::string_view in_file,
                 LoadState& state, std::string& secret) {
  read_text(fields, direct, secret);
  if (auto text = read_secret_file(fields, direct, in_file, state)) secret = *std::move(text);
}

void read_secrets(const YamlFields& fields, std::string_view direct, std::string_view in_file,
                  LoadState& state, std::vector<std::string>& secrets) {
  if (const auto node = fields.find(direct)) {
    secrets.clear();
    for (const YamlNode& one : node->one_or_list()) {
      if (const auto secret = one.text()) secrets.emplace_back(*secret);
    }
  }
  const std::optional<std::string> text = read_secret_file(fields, direct, in_file, state);
  if (!text) return;
  secrets.clear();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) secrets.push_back(line);
  }
}

void read_tls(const YamlFields& fields, std::optional<TlsFiles>& tls_files) {
  const auto section = fields.find("tls");
  if (!section) return;
  const YamlFields tls(*section, keys::kTls);
  TlsFiles files;
  static_cast<void>(tls.require("certificate"));
  static_cast<void>(tls.require("key"));
  read_path(tls, "certificate", files.certificate);
  read_path(tls, "key", files.key);
  read_path(tls, "client_ca", files.client_ca);
  tls_files = std::move(files);
}

}  // namespace penstock::rules
