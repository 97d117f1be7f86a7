#include "rules/model/path_pattern.hpp"

#include <algorithm>

namespace penstock::rules {
namespace {

using Segment = PathPattern::Segment;

Error defect(std::string_view pattern, const std::string& what) {
  return {ErrorCode::InvalidInput, "pattern \"" + std::string(pattern) + "\": " + what};
}

bool segment_matches(const Segment& segment, std::string_view part, Captures& captures) {
  switch (segment.kind) {
    case Segment::Kind::Literal: return segment.text == part;
    case Segment::Kind::Wildcard: return wildcard_matches(segment.text, part);
    case Segment::Kind::Any:
      if (segment.capture < kMaxCaptures) captures.values[segment.capture] = part;
      return true;
    case Segment::Kind::Rest: break;
  }
  return false;
}

Result<std::size_t> number_of(std::string_view pattern, std::string_view name,
                              std::vector<std::string>& names) {
  const auto place = std::find(names.begin(), names.end(), name);
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  if (names.size() == kMaxCaptures) {
    return defect(pattern, "more than " + std::to_string(kMaxCaptures) + " names in one rule");
  }
  names.emplace_back(name);
  return names.size() - 1;
}

Result<Segment> named_segment(std::string_view pattern, std::string_view part,
                              std::vector<std::string>& names) {
  const bool in_braces = part.size() > 2 && part.starts_with('{') && part.ends_with('}');
  const std::string_view name = in_braces ? part.substr(1, part.size() - 2) : "";
  if (name.empty() || name.find_first_of("{}*") != std::string_view::npos) {
    return defect(pattern, "{name} must be a segment of its own, as in /users/{id}");
  }
  const Result<std::size_t> number = number_of(pattern, name, names);
  if (!number) return number.error();
  return Segment{.kind = Segment::Kind::Any, .capture = *number};
}

Result<Segment> plain_segment(std::string_view pattern, std::string_view part) {
  if (part == "**") return Segment{.kind = Segment::Kind::Rest};
  if (part == "*") return Segment{.kind = Segment::Kind::Any};
  if (part.find("**") != std::string_view::npos) {
    return defect(pattern, "** must be a segment of its own, as in /v1/**");
  }
  const bool is_literal = part.find('*') == std::string_view::npos;
  return Segment{.kind = is_literal ? Segment::Kind::Literal : Segment::Kind::Wildcard,
                 .text = std::string(part)};
}

}  // namespace

PathSegments split_path(std::string_view path) {
  PathSegments segments;
  segments.reserve(8);
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) segments.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return segments;
}

bool wildcard_matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  // The last one seen. Earlier ones need no backtracking, since the last can match the rest.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && pattern[at] == text[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Result<PathPattern> PathPattern::parse(std::string_view text, Braces braces,
                                       std::vector<std::string>& names) {
  PathPattern pattern;
  pattern.text_ = text;
  if (!text.starts_with('/')) return defect(text, "must begin with /");
  std::vector<std::size_t> used;
  for (const std::string_view part : split_path(text)) {
    const bool is_named =
        braces == Braces::Capture && part.find_first_of("{}") != std::string_view::npos;
    Result<Segment> segment =
        is_named ? named_segment(text, part, names) : plain_segment(text, part);
    if (!segment) return segment.error();
    if (segment->kind == Segment::Kind::Rest) {
      if (pattern.rest_ != std::string::npos) return defect(text, "** may appear once only");
      pattern.rest_ = pattern.segments_.size();
    }
    if (is_named && std::find(used.begin(), used.end(), segment->capture) != used.end()) {
      return defect(text, std::string(part) + " appears twice");
    }
    if (is_named) used.push_back(segment->capture);
    pattern.segments_.push_back(std::move(*segment));
  }
  if (pattern.segments_.size() > kMaxSegments) {
    return defect(text, "more than " + std::to_string(kMaxSegments) + " segments");
  }
  return pattern;
}

bool PathPattern::matches(std::span<const std::string_view> path, Captures& captures) const {
  const bool has_rest = rest_ != std::string::npos;
  const std::size_t fixed = segments_.size() - (has_rest ? 1 : 0);
  if (has_rest ? path.size() < fixed : path.size() != fixed) return false;
  const std::size_t head = has_rest ? rest_ : fixed;
  for (std::size_t i = 0; i < head; ++i) {
    if (!segment_matches(segments_[i], path[i], captures)) return false;
  }
  for (std::size_t i = head + 1; i < segments_.size(); ++i) {
    const std::size_t from_end = segments_.size() - i;
    if (!segment_matches(segments_[i], path[path.size() - from_end], captures)) return false;
  }
  return true;
}

std::uint32_t PathTrie::child(std::uint32_t node, const PathPattern::Segment& segment) {
  using Kind = PathPattern::Segment::Kind;
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  std::uint32_t found = next;
  Node& from = nodes_[node];
  if (segment.kind == Kind::Literal) {
    found = from.literal.try_emplace(segment.text, next).first->second;
  } else if (segment.kind == Kind::Any) {
    if (from.any == 0) from.any = next;
    found = from.any;
  } else {
    const auto place = std::find_if(from.wildcard.begin(), from.wildcard.end(),
                                    [&](const auto& one) { return one.first == segment.text; });
    if (place != from.wildcard.end()) return place->second;
    from.wildcard.emplace_back(segment.text, next);
  }
  if (found == next) nodes_.emplace_back();
  return found;
}

void PathTrie::add(const PathPattern& pattern, std::uint32_t number) {
  std::uint32_t node = 0;
  for (const PathPattern::Segment& segment : pattern.segments()) {
    if (segment.kind == PathPattern::Segment::Kind::Rest) {
      nodes_[node].below.push_back(number);
      return;
    }
    node = child(node, segment);
  }
  nodes_[node].here.push_back(number);
}

void PathTrie::find(std::span<const std::string_view> path, RuleNumbers& found) const {
  walk(0, path, found);
}

// Not deeper than a pattern has segments.
void PathTrie::walk(std::uint32_t node, std::span<const std::string_view> path,
                    RuleNumbers& found) const {
  const Node& at = nodes_[node];
  found.insert(found.end(), at.below.begin(), at.below.end());
  if (path.empty()) {
    found.insert(found.end(), at.here.begin(), at.here.end());
    return;
  }
  if (const auto next = at.literal.find(path.front()); next != at.literal.end()) {
    walk(next->second, path.subspan(1), found);
  }
  for (const auto& [pattern, next] : at.wildcard) {
    if (wildcard_matches(pattern, path.front())) walk(next, path.subspan(1), found);
  }
  if (at.any != 0) walk(at.any, path.subspan(1), found);
}

}  // namespace penstock::rules
