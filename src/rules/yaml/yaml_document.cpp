#include "rules/yaml/yaml_document.hpp"

#include "rules/yaml/yaml_builder.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <utility>

namespace penstock::rules {

void YamlDocument::report(Diagnostic::Severity severity, Position position,
                          std::string message) const {
  rules::report(*diagnostics_, {.severity = severity,
                                .file = file_,
                                .line = position.line,
                                .column = position.column,
                                .message = std::move(message)});
}

std::unique_ptr<const YamlDocument> YamlDocument::parse(std::string_view text, std::string file,
                                                        Diagnostics& diagnostics) {
  std::unique_ptr<YamlDocument> document(new YamlDocument(std::move(file), diagnostics));
  const auto reject = [&](Position position, std::string message) {
    document->report(Diagnostic::Severity::Error, position, std::move(message));
    return nullptr;
  };
  if (text.size() > kMaxBytes) {
    return reject({}, std::to_string(text.size()) + " bytes; a file may have " +
                          std::to_string(kMaxBytes) + " at most");
  }
  YamlBuilder builder(*document);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.has_failed() && parser.HandleNextDocument(builder)) continue;
  } catch (const YAML::DeepRecursion& failure) {
    if (builder.has_failed()) return nullptr;
    return reject(position_of(failure.mark), "nested too deeply");
  } catch (const YAML::Exception& failure) {
    if (builder.has_failed()) return nullptr;
    return reject(position_of(failure.mark), "not YAML: " + failure.msg);
  } catch (const std::exception& failure) {
    if (builder.has_failed()) return nullptr;
    return reject({}, std::string("not YAML: ") + failure.what());
  }
  if (builder.has_failed()) return nullptr;
  if (document->items_.empty()) document->items_.push_back({.position = {.line = 1, .column = 1}});
  return document;
}

}  // namespace penstock::rules
