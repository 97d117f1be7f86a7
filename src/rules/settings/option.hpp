#pragma once

#include "core/duration_text.hpp"
#include "rules/yaml/load_state.hpp"
#include "rules/yaml/text_file.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// One row per option. The YAML reader, the known keys, the comparison on reload and the tables of
// docs/reference/configuration.md follow from the rows.
namespace penstock::rules {

// The value of an option, beside the rest of its section.
struct OptionValue {
  const YamlNode& node;
  const YamlFields& fields;
  LoadState& state;
};

// An option of a YAML section that is read into a `Section`.
template <class Section>
struct Option {
  std::string_view key{};
  std::string_view help{};  // Markdown, for docs/reference/configuration.md
  // Why a changed value takes a restart. Empty: it takes effect on reload.
  std::string_view restart_reason{};
  std::string default_text{};  // Markdown
  std::string sample{};        // a valid value other than the default, in YAML
  bool is_required = false;

  std::function<void(const OptionValue&, Section&)> read{};
  // Empty for rows without a value of their own: sections, and a second key for the same member.
  std::function<bool(const Section&, const Section&)> equal{};
  std::function<void(const Section& from, Section& to)> copy{};
  std::vector<Option> parts{};  // the options of a section within this one

  [[nodiscard]] Option required() && {
    is_required = true;
    default_text = "required";
    return std::move(*this);
  }
  [[nodiscard]] Option by_default(std::string text) && {
    default_text = std::move(text);
    return std::move(*this);
  }
  [[nodiscard]] Option needs_restart(std::string_view reason) && {
    restart_reason = reason;
    return std::move(*this);
  }
  [[nodiscard]] Option sampled(std::string value) && {
    sample = std::move(value);
    return std::move(*this);
  }
};

template <class Section>
using Options = std::vector<Option<Section>>;

inline constexpr Duration kMaxTimeout = std::chrono::hours{24};

// Reads a YAML map by the rows of its section; other keys are errors.
template <class Section>
YamlFields read_section(const YamlNode& map, const Options<Section>& options, Section& section,
                        LoadState& state) {
  std::vector<std::string_view> known;
  for (const Option<Section>& option : options) known.push_back(option.key);
  YamlFields fields(map, known);
  for (const Option<Section>& option : options) {
    const auto node = option.is_required ? fields.require(option.key) : fields.find(option.key);
    if (node) option.read({.node = *node, .fields = fields, .state = state}, section);
  }
  return fields;
}

// A row that compares and copies a member; the caller adds how it is read.
template <class Section, class Value>
Option<Section> row(std::string_view key, Value Section::*member, std::string_view help) {
  return {.key = key,
          .help = help,
          .equal = [member](const Section& a, const Section& b) { return a.*member == b.*member; },
          .copy = [member](const Section& from, Section& to) { to.*member = from.*member; }};
}

struct Range {
  std::int64_t least;
  std::int64_t most;
};

template <class Section, class Number>
Option<Section> number(std::string_view key, Number Section::*member, Range range,
                       std::string_view help) {
  Option<Section> option = row(key, member, help);
  const auto initial = static_cast<std::int64_t>(Section{}.*member);
  option.default_text = std::to_string(initial);
  option.sample = std::to_string(initial < range.most ? initial + 1 : range.least);
  option.read = [member, range](const OptionValue& value, Section& section) {
    const auto number = value.node.integer(range.least, range.most);
    if (number) section.*member = static_cast<Number>(*number);
  };
  return option;
}

template <class Section>
Option<Section> duration(std::string_view key, Duration Section::*member, Duration most,
                         std::string_view help) {
  Option<Section> option = row(key, member, help);
  const Duration initial = Section{}.*member;
  option.default_text = "`" + core::duration_text(initial) + "`";
  option.sample = core::duration_text(initial + std::chrono::milliseconds{1});
  option.read = [member, most](const OptionValue& value, Section& section) {
    const auto time = value.node.duration(std::chrono::milliseconds{1}, most);
    if (time) section.*member = *time;
  };
  return option;
}

template <class Section>
Option<Section> flag(std::string_view key, bool Section::*member, std::string_view help) {
  Option<Section> option = row(key, member, help);
  const bool initial = Section{}.*member;
  option.default_text = initial ? "`true`" : "`false`";
  option.sample = initial ? "false" : "true";
  option.read = [member](const OptionValue& value, Section& section) {
    if (const auto flag = value.node.boolean()) section.*member = *flag;
  };
  return option;
}

template <class Section>
Option<Section> text(std::string_view key, std::string Section::*member, std::string_view help) {
  Option<Section> option = row(key, member, help);
  const std::string initial = Section{}.*member;
  option.default_text = initial.empty() ? "none" : "`" + initial + "`";
  option.sample = "other";
  option.read = [member](const OptionValue& value, Section& section) {
    if (const auto text = value.node.text()) section.*member = *text;
  };
  return option;
}

// The name of a file, relative to the configuration.
[[nodiscard]] inline std::optional<std::string> read_path(const YamlNode& node) {
  const auto name = node.text();
  if (!name) return std::nullopt;
  return resolve_relative_to(node.file(), *name).string();
}

template <class Section>
Option<Section> file(std::string_view key, std::string Section::*member, std::string_view help) {
  Option<Section> option = text(key, member, help);
  option.read = [member](const OptionValue& value, Section& section) {
    if (auto path = read_path(value.node)) section.*member = *std::move(path);
  };
  return option;
}

template <class Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

template <class Section, class Value>
Option<Section> word(std::string_view key, Value Section::*member,
                     std::type_identity_t<Words<Value>> words, std::string_view help) {
  Option<Section> option = row(key, member, help);
  const Value initial = Section{}.*member;
  for (const auto& [name, value] : words) {
    if (value == initial) {
      option.default_text = "`" + std::string(name) + "`";
    } else {
      option.sample = name;
    }
  }
  option.read = [member, words = std::move(words)](const OptionValue& value, Section& section) {
    if (const auto chosen = value.node.choice<Value>(words)) section.*member = *chosen;
  };
  return option;
}

// A row with a reader of its own.
template <class Section, class Value>
Option<Section> custom(std::string_view key, Value Section::*member, std::string_view sample,
                       void (*read)(const OptionValue&, Section&), std::string_view help) {
  Option<Section> option = row(key, member, help);
  option.default_text = "none";
  option.sample = sample;
  option.read = read;
  return option;
}

// The option of a member, as an option of the whole.
template <class Outer, class Inner>
Option<Outer> of(Inner Outer::*member, const Option<Inner>& inner) {
  Option<Outer> option{.key = inner.key,
                       .help = inner.help,
                       .restart_reason = inner.restart_reason,
                       .default_text = inner.default_text,
                       .sample = inner.sample,
                       .is_required = inner.is_required};
  option.read = [member, read = inner.read](const OptionValue& value, Outer& outer) {
    read(value, outer.*member);
  };
  if (inner.equal) {
    option.equal = [member, equal = inner.equal](const Outer& a, const Outer& b) {
      return equal(a.*member, b.*member);
    };
    option.copy = [member, copy = inner.copy](const Outer& from, Outer& to) {
      copy(from.*member, to.*member);
    };
  }
  for (const Option<Inner>& part : inner.parts) option.parts.push_back(of(member, part));
  return option;
}

// A map within the section. `check` runs when all its values are read.
template <class Section>
using Check = void (*)(const YamlFields&, Section&, LoadState&);

template <class Outer, class Inner>
Option<Outer> section(std::string_view key, Inner Outer::*member, const Options<Inner>& options,
                      std::type_identity_t<Check<Inner>> check, std::string_view help) {
  Option<Outer> option{.key = key, .help = help, .default_text = "see below"};
  option.read = [member, &options, check](const OptionValue& value, Outer& outer) {
    const YamlFields fields = read_section(value.node, options, outer.*member, value.state);
    if (check != nullptr) check(fields, outer.*member, value.state);
  };
  for (const Option<Inner>& part : options) option.parts.push_back(of(member, part));
  return option;
}

}  // namespace penstock::rules
