#pragma once

#include "base/text.hpp"
#include "penstock/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Where a request goes: the parts of hosts, paths and queries.
namespace penstock::http {

using base::percent_decoded;

// "/v1/keys/a%2Fb" as "v1", "keys", "a%2Fb": still encoded.
[[nodiscard]] std::vector<std::string_view> segments(std::string_view path);

// The parameters of a query, each taken once. As with JsonObjectReader, the first error is kept,
// and a parameter that was not taken is one.
class Parameters {
 public:
  explicit Parameters(std::string_view query);

  [[nodiscard]] std::optional<std::string_view> text(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view name, std::int64_t least,
                                                         std::int64_t most);
  // All that are left, in their order, by name and value; they live as long as this. A name that
  // occurs twice is an error.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> take_rest();
  void add_error(const std::string& what);
  [[nodiscard]] Result<void> finish() const;

 private:
  struct Parameter {
    std::string name;
    std::string value;
    bool taken = false;
  };
  std::vector<Parameter> parameters_;
  std::string known_;
  std::optional<std::string> error_;
};

// The name of a host, which is one for all spellings: "API.example.com.:8443" is "api.example.com".
[[nodiscard]] std::string host_name(std::string_view host);

}  // namespace penstock::http
