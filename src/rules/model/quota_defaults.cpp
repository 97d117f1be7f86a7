#include "rules/model/quota_defaults.hpp"

namespace penstock::rules {
namespace {

constexpr std::string_view kDefaultAlgorithm = "token_bucket";

// Whether the text names an algorithm. The parsed quota cannot show it for the default algorithm.
bool names_algorithm(const QuotaSpec& spec, std::string_view text) {
  return spec.algorithm != Algorithm::TokenBucket ||
         text.find(kDefaultAlgorithm) != std::string_view::npos;
}

}  // namespace

Result<Quota> parse_quota(std::string_view text, const QuotaDefaults& defaults) {
  Result<QuotaSpec> spec = QuotaSpec::parse(text);
  if (!spec) return spec.error();
  if (!names_algorithm(*spec, text)) spec->algorithm = defaults.algorithm;
  if (!spec->capacity) spec->capacity = defaults.burst;
  return Quota::make(*spec);
}

}  // namespace penstock::rules
