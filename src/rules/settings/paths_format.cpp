#include "rules/settings/paths_format.hpp"

#include "rules/settings/known_keys.hpp"
#include "rules/yaml/scalar_fields.hpp"

namespace penstock::rules {

void read_paths(const YamlFields& fields, PathSettings& paths) {
  using Escaped = PathSettings::EscapedSlashes;
  using Backslashes = PathSettings::Backslashes;
  using Parameters = PathSettings::Parameters;
  using Case = PathSettings::LetterCase;
  const auto section = fields.find("paths");
  if (!section) return;
  const YamlFields given(*section, keys::kPaths);
  read_boolean(given, "merge_slashes", paths.merge_slashes);
  if (const auto node = given.find("escaped_slashes")) {
    const auto chosen = node->choice<Escaped>(
        {{"reject", Escaped::Reject}, {"keep", Escaped::Keep}, {"decode", Escaped::Decode}});
    if (chosen) paths.escaped_slashes = *chosen;
  }
  if (const auto node = given.find("backslashes")) {
    const auto chosen = node->choice<Backslashes>({{"reject", Backslashes::Reject},
                                                   {"keep", Backslashes::Keep},
                                                   {"slash", Backslashes::Slash}});
    if (chosen) paths.backslashes = *chosen;
  }
  if (const auto node = given.find("parameters")) {
    const auto chosen = node->choice<Parameters>({{"ignore", Parameters::Ignore},
                                                  {"reject", Parameters::Reject},
                                                  {"keep", Parameters::Keep}});
    if (chosen) paths.parameters = *chosen;
  }
  if (const auto node = given.find("case")) {
    const auto chosen =
        node->choice<Case>({{"sensitive", Case::Sensitive}, {"insensitive", Case::Insensitive}});
    if (chosen) paths.letter_case = *chosen;
  }
}

std::string_view folding(const PathSettings& paths, std::string_view option) {
  return paths.letter_case == PathSettings::LetterCase::Insensitive ? option : std::string_view{};
}

}  // namespace penstock::rules
