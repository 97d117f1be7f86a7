#include "rules/model/configuration.hpp"

#include "rules/envoy/envoy_format.hpp"
#include "rules/settings/section_options.hpp"
#include "rules/yaml/domain_format.hpp"
#include "rules/yaml/load_state.hpp"
#include "rules/yaml/text_file.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

namespace penstock::rules {
namespace {

constexpr std::size_t kMaxFiles = 10'000;

bool is_yaml(const std::filesystem::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

void report_file(Diagnostics& diagnostics, const std::filesystem::path& path, std::string message) {
  report(diagnostics, {.file = path.string(), .message = std::move(message)});
}

// The files of a directory, sorted by name so that errors have the same order everywhere. Hidden
// files and subdirectories are skipped.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& path,
                                            Diagnostics& diagnostics) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator entries(path, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::filesystem::path& file = entries->path();
    std::error_code ignored;
    if (!is_yaml(file) || file.filename().string().starts_with('.')) continue;
    if (!std::filesystem::is_directory(file, ignored)) files.push_back(file);
    if (files.size() > kMaxFiles) break;
  }
  if (error) {
    report_file(diagnostics, path, "cannot be read: " + error.message());
  } else if (files.size() > kMaxFiles) {
    report_file(diagnostics, path, "more than " + std::to_string(kMaxFiles) + " files");
  } else if (files.empty()) {
    report_file(diagnostics, path, "a directory without *.yaml or *.yml files");
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Reads all files of one configuration: first the sections that do not depend on others, then the
// rules.
class Loader {
 public:
  explicit Loader(Loaded& loaded) : loaded_(loaded) {}

  void add_file(const std::filesystem::path& path) {
    state_.files.push_back(path);
    const Result<std::string> text = read_text_file(path, YamlDocument::kMaxBytes);
    if (!text) return report_file(loaded_.diagnostics, path, text.error().detail);
    add_text(*text, path);
  }

  void add_text(std::string_view text, const std::filesystem::path& name) {
    auto document = YamlDocument::parse(text, name.string(), loaded_.diagnostics);
    if (document != nullptr) documents_.push_back(std::move(document));
  }

  void finish() {
    const std::set<std::filesystem::path> maps = files_of_maps();
    for (const auto& document : documents_) {
      if (!maps.contains(normal(document->file()))) load_document(YamlNode(*document));
    }
    for (const YamlNode& domains : state_.domains) load_domains(domains, state_);
    for (const YamlNode& root : envoy_) load_envoy(root, state_.builder);
    if (!has_error(loaded_.diagnostics)) {
      state_.maps.report_unused(loaded_.diagnostics);
      warn_of_probable_mistakes(state_);
      warn_of_unmatched_values(state_, loaded_.diagnostics);
      warn_of_no_rules();
    }
    sort_diagnostics();
    if (has_error(loaded_.diagnostics)) return;
    loaded_.configuration = Configuration{.settings = std::move(state_.settings),
                                          .rules = state_.builder.build(),
                                          .places = std::move(places_),
                                          .files = std::move(state_.files)};
  }

 private:
  static std::filesystem::path normal(const std::filesystem::path& path) {
    return path.lexically_normal();
  }

  // A map file in the directory of the configuration is not a part of the configuration.
  [[nodiscard]] std::set<std::filesystem::path> files_of_maps() const {
    std::set<std::filesystem::path> files;
    for (const auto& document : documents_) {
      const auto maps = YamlNode(*document).peek("maps");
      if (!maps || !maps->is_map()) continue;
      for (const YamlNode& map : maps->peek_values()) {
        const auto file = map.peek("file");
        if (file && file->is_text()) {
          files.insert(normal(resolve_relative_to(map.file(), file->raw())));
        }
      }
    }
    return files;
  }

  void load_document(const YamlNode& root) {
    if (is_envoy_format(root)) {
      envoy_.push_back(root);
    } else if (root.is_nothing()) {
      root.warning("an empty file: it limits nothing");
    } else {
      load_sections(root);
    }
  }

  void load_sections(const YamlNode& root) {
    std::vector<std::string_view> known;
    for (const Option<Settings>& option : top_options()) known.push_back(option.key);
    const YamlFields fields(root, known);
    for (const Option<Settings>& option : top_options()) {
      const auto node =
          option.key == "domains" ? fields.find(option.key) : claim(fields, option.key);
      if (!node) continue;
      option.read({.node = *node, .fields = fields, .state = state_}, state_.settings);
    }
  }

  // Sections other than `domains` must be in one file: two would contradict each other.
  std::optional<YamlNode> claim(const YamlFields& fields, std::string_view section) {
    const auto node = fields.find(section);
    if (!node) return std::nullopt;
    const auto [place, is_new] =
        state_.sections.try_emplace(std::string(section), source_of(*node));
    if (is_new) note_places(section, *node);
    if (is_new) return node;
    node->error(std::string(section) + " a second time; first in " + to_string(place->second));
    return std::nullopt;
  }

  void note_places(std::string_view section, const YamlNode& node) {
    const auto note = [&](std::string name, const YamlNode& at) {
      places_[std::move(name)] = {
          .file = at.file(), .line = at.position().line, .column = at.position().column};
    };
    note(std::string(section), node);
    for (const std::string_view part : {"tls", "listen", "access_log"}) {
      const auto inner = node.peek(part);
      if (inner) note(std::string(section) + "." + std::string(part), *inner);
    }
  }

  // A configuration with request_limits needs no rules.
  void warn_of_no_rules() {
    if (!state_.builder.rules().empty() || state_.sections.contains("request_limits")) return;
    const bool has_domains =
        std::any_of(state_.domains.begin(), state_.domains.end(),
                    [](const YamlNode& domains) { return !domains.peek_values().empty(); });
    if (has_domains || documents_.empty()) return;
    const YamlNode root(*documents_.front());
    if (!root.is_nothing()) root.warning("no domains: no request is limited by a rule");
  }

  void sort_diagnostics() {
    Diagnostics& all = loaded_.diagnostics;
    const auto end =
        all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMaxDiagnostics));
    std::stable_sort(all.begin(), end, [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    });
  }

  Loaded& loaded_;
  LoadState state_;
  std::vector<std::unique_ptr<const YamlDocument>> documents_;
  base::TextMap<FilePosition> places_;
  std::vector<YamlNode> envoy_;
};

}  // namespace

Loaded load(std::span<const std::filesystem::path> paths) {
  Loaded loaded;
  Loader loader(loaded);
  for (const std::filesystem::path& path : paths) {
    for (const std::filesystem::path& file : files_of(path, loaded.diagnostics)) {
      loader.add_file(file);
    }
  }
  loader.finish();
  return loaded;
}

Loaded load_text(std::string_view text, const std::filesystem::path& name) {
  Loaded loaded;
  Loader loader(loaded);
  loader.add_text(text, name);
  loader.finish();
  return loaded;
}

}  // namespace penstock::rules
