#include "rules/model/value_maps.hpp"

#include "base/check.hpp"
#include "rules/yaml/diagnostic.hpp"
#include "rules/yaml/rule_keys.hpp"
#include "rules/yaml/text_file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace penstock::rules {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A plain scalar that every YAML parser reads as this text: letters, digits and a few other
// characters, the first a letter or digit, and not a word for null.
bool is_simple(std::string_view text) {
  if (text.empty() || !is_letter_or_digit(text.front()) || text.back() == ' ') return false;
  if (text == "null") return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) || std::string_view(" _-./@+").find(c) != std::string_view::npos;
  });
}

// Removes the first line, and returns it without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The fast path for files of simple lines "key: value", such as maps of a hundred thousand keys.
// Empty when a line has another form.
std::optional<ValueMap> parse_simple_lines(std::string_view text) {
  ValueMap map;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 2);
    if (!is_simple(key) || !is_simple(value)) return std::nullopt;
    if (!map.try_emplace(std::string(key), value).second) return std::nullopt;
  }
  return map;
}

// Removes one field from a line of CSV. False when a quote is not closed.
bool take_field(std::string_view& line, std::string& field) {
  field.clear();
  if (!line.starts_with('"')) {
    const std::size_t comma = std::min(line.find(','), line.size());
    field = line.substr(0, comma);
    line.remove_prefix(comma);
    return true;
  }
  line.remove_prefix(1);
  while (true) {
    const std::size_t quote = line.find('"');
    if (quote == std::string_view::npos) return false;
    field += line.substr(0, quote);
    line.remove_prefix(quote + 1);
    if (!line.starts_with('"')) return true;
    field += '"';
    line.remove_prefix(1);
  }
}

bool parse_line(std::string_view line, std::string& key, std::string& value) {
  if (!take_field(line, key) || !line.starts_with(',')) return false;
  line.remove_prefix(1);
  return take_field(line, value) && line.empty() && !key.empty();
}

ValueMap values_of(const YamlNode& node) {
  ValueMap map;
  for (const YamlEntry& entry : node.entries()) {
    if (const auto value = entry.value.text()) map.emplace(entry.key.raw(), *value);
  }
  return map;
}

// The first line with this value, from 1; 0 when there is none.
template <class HasValue>
std::size_t first_line(std::string_view text, const HasValue& has_value) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (!line.starts_with('#') && has_value(line)) return number;
  }
  return 0;
}

std::size_t csv_line_of(std::string_view text, std::string_view wanted) {
  std::string key;
  std::string value;
  return first_line(text, [&](std::string_view line) {
    return !line.empty() && parse_line(line, key, value) && value == wanted;
  });
}

std::size_t yaml_line_of(std::string_view text, std::string_view wanted) {
  const std::string end = ": " + std::string(wanted);
  return first_line(text, [&](std::string_view line) { return line.ends_with(end); });
}

bool is_csv(const std::filesystem::path& path) { return path.extension() == ".csv"; }

}  // namespace

ValueMap parse_csv_map(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  ValueMap map;
  std::string key;
  std::string value;
  const auto reject = [&](std::size_t line, std::string message) {
    report(diagnostics, {.file = file, .line = line, .column = 1, .message = std::move(message)});
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    if (!parse_line(line, key, value)) {
      reject(number, "expected a line key,value, found " + quote_value(line));
    } else if (!map.try_emplace(key, value).second) {
      reject(number, "key " + quote_value(key, '\'') + " a second time");
    }
  }
  return map;
}

ValueMap parse_yaml_map(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  if (auto simple = parse_simple_lines(text)) return std::move(*simple);
  return parse_any_yaml_map(text, file, diagnostics);
}

ValueMap parse_any_yaml_map(std::string_view text, const std::string& file,
                            Diagnostics& diagnostics) {
  const auto document = YamlDocument::parse(text, file, diagnostics);
  if (document == nullptr) return {};
  const YamlNode root(*document);
  return root.is_nothing() ? ValueMap{} : values_of(root);
}

void ValueMaps::load(const YamlNode& section, std::vector<std::filesystem::path>& files) {
  for (const YamlEntry& entry : section.entries()) {
    const YamlFields fields(entry.value, keys::kMap);
    const auto file = fields.find("file");
    const auto values = fields.find("values");
    Entry loaded{
        .map = nullptr, .file = section.file(), .position = entry.key.position(), .values = values};
    ValueMap map;
    if (file.has_value() == values.has_value()) {
      if (entry.value.is_map()) entry.key.error("a map has either file or values");
    } else if (values) {
      map = values_of(*values);
    } else if (const auto written = file->text()) {
      const std::filesystem::path path = resolve_relative_to(section.file(), *written);
      files.push_back(path);
      Result<std::string> text = read_text_file(path, kMaxBytes);
      if (!text) {
        file->error("file: " + text.error().detail);
      } else {
        map = is_csv(path) ? parse_csv_map(*text, path.string(), section.diagnostics())
                           : parse_yaml_map(*text, path.string(), section.diagnostics());
        loaded.text_file = path.string();
        loaded.text = *std::move(text);
      }
    }
    loaded.map = std::make_shared<const ValueMap>(std::move(map));
    maps_.try_emplace(std::string(entry.key.raw()), std::move(loaded));
  }
}

std::shared_ptr<const ValueMap> ValueMaps::find(const YamlNode& name) {
  const auto text = name.text();
  if (!text) return nullptr;
  const auto place = maps_.find(*text);
  if (place == maps_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, map] : maps_) names.push_back(known);
    name.error("no map " + quote_value(*text, '\'') + " under maps" + suggestion(*text, names));
    return nullptr;
  }
  place->second.used = true;
  return place->second.map;
}

ValueMaps::Origin ValueMaps::origin_of(const ValueMap& map, std::string_view value) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(),
                                  [&](const auto& each) { return each.second.map.get() == &map; });
  PENSTOCK_CHECK(found != maps_.end());
  const auto& [name, entry] = *found;
  if (entry.values) {
    for (const YamlNode& node : entry.values->peek_values()) {
      if (node.is_text() && node.raw() == value) {
        return {.name = name, .file = node.file(), .position = node.position()};
      }
    }
  }
  const std::size_t line =
      is_csv(entry.text_file) ? csv_line_of(entry.text, value) : yaml_line_of(entry.text, value);
  if (line == 0) return {.name = name, .file = entry.file, .position = entry.position};
  return {.name = name, .file = entry.text_file, .position = {.line = line, .column = 1}};
}

void ValueMaps::report_unused(Diagnostics& diagnostics) const {
  for (const auto& [name, entry] : maps_) {
    if (entry.used) continue;
    report(diagnostics, {.severity = Diagnostic::Severity::Warning,
                         .file = entry.file,
                         .line = entry.position.line,
                         .column = entry.position.column,
                         .message = "map " + quote_value(name, '\'') + " is used by no rule"});
  }
}

}  // namespace penstock::rules
