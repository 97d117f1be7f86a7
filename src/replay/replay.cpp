#include "replay/replay.hpp"

#include "replay/input/gzip_source.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace penstock::replay {
namespace {

// Lines between two decisions of what to do next: enough that those cost nothing.
constexpr std::size_t kLinesAtOnce = 256;
constexpr std::size_t kChunksPerProgress = 64;
// A line that is more ahead of those before it needs the next line to confirm its time.
constexpr Duration kMaxJump = Days{1};

Error named_error(const std::string& file, const Error& error) {
  return {error.code, file + ": " + error.detail};
}

// The attributes that the rules of the domain use; empty when they are not known.
std::optional<std::vector<std::string>> wanted_attributes(
    std::initializer_list<const rules::Ruleset*> rulesets, std::string_view domain) {
  std::set<std::string> names;
  for (const rules::Ruleset* ruleset : rulesets) {
    if (ruleset == nullptr) continue;
    for (const auto& rule : ruleset->rules()) {
      if (rule->domain != domain) continue;
      const auto used = ruleset->attributes_of(*rule);
      if (!used) return std::nullopt;
      names.insert(used->begin(), used->end());
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace

Replay::Against::Against(Rules rules, const RunStatistics& now, std::uint64_t max_keys)
    : service(std::move(rules), max_keys),
      statistics(service.rules(), RunStatistics::Peaks::Skip),
      difference(now.limits(), statistics.limits()) {}

Replay::Replay(ReplayOptions options, Rules rules, Rules against)
    : options_(std::move(options)),
      service_(std::move(rules), options_.max_keys),
      statistics_(service_.rules(), options_.peaks),
      against_(against == nullptr
                   ? nullptr
                   : std::make_unique<Against>(std::move(against), statistics_, options_.max_keys)),
      attributes_(attribute_settings()) {
  request_.domain = options_.domain;
  request_.descriptors.resize(1);
}

LogAttributes::Settings Replay::attribute_settings() const {
  return {
      .paths = options_.paths,
      .trusted = options_.trusted,
      .wanted = wanted_attributes(
          {&service_.rules(), against_ ? &against_->service.rules() : nullptr}, options_.domain)};
}

std::optional<std::vector<std::string>> Replay::wanted_headers() const {
  auto wanted = attribute_settings().wanted;
  // the client address depends on these
  if (wanted) wanted->insert(wanted->end(), {"header.x-forwarded-for", "header.x-real-ip"});
  return wanted;
}

Result<void> Replay::add(std::string name, std::unique_ptr<ByteSource> source) {
  auto input = std::make_unique<Input>(
      Input{.name = std::move(name),
            .reader = LineReader(std::make_unique<GzipSource>(std::move(source)))});
  const Result<std::string_view> first = input->reader.peek();
  if (!first) return named_error(input->name, first.error());
  if (first->empty()) {
    input->is_at_end = true;
  } else {
    input->format = options_.format ? options_.format : detect_format(*first, options_.mapping);
    if (!input->format) {
      return Error{
          ErrorCode::InvalidInput,
          input->name + ": the first lines are in no known format; use --format and --map"};
    }
    input->parser = make_parser(*input->format, options_.mapping, wanted_headers());
  }
  inputs_.push_back(std::move(input));
  return {};
}

Result<void> Replay::run(const std::function<void()>& on_progress) {
  std::size_t chunks = 0;
  while (Input* const input = next_input()) {
    if (const Result<void> read = read_from(*input); !read) return read;
    decide_ready();
    if (on_progress && ++chunks % kChunksPerProgress == 0) on_progress();
  }
  decide_ready();
  statistics_.finish();
  if (against_) {
    against_->statistics.finish();
    against_->difference.finish();
  }
  return {};
}

Replay::Input* Replay::next_input() {
  Input* behind = nullptr;
  for (const std::unique_ptr<Input>& input : inputs_) {
    if (input->is_at_end) continue;
    if (!input->latest) return input.get();
    if (behind == nullptr || *input->latest < *behind->latest) behind = input.get();
  }
  return behind;
}

Result<void> Replay::read_from(Input& input) {
  for (std::size_t i = 0; i < kLinesAtOnce; ++i) {
    const Result<LineReader::Line> line = input.reader.next();
    if (!line) {
      return Error{line.error().code, input.name + ", after line " +
                                          std::to_string(input.reader.lines_read()) + ": " +
                                          line.error().detail};
    }
    if (line->is_end) {
      release_held(input);
      input.is_at_end = true;
      return {};
    }
    read_line(input, *line);
  }
  return {};
}

void Replay::read_line(Input& input, const LineReader::Line& line) {
  ++lines_.lines;
  if (line.is_too_long) {
    ++lines_.malformed;
    return note_bad_line(input, line.number, "longer than 1 MiB");
  }
  if (line.text.empty()) {
    ++lines_.other;
    return;
  }
  record_.clear();
  const LineOutcome outcome = input.parser->parse(line.text, record_);
  if (outcome.kind == LineOutcome::Kind::Malformed) {
    ++lines_.malformed;
    return note_bad_line(input, line.number, outcome.reason);
  }
  if (outcome.kind == LineOutcome::Kind::Other) {
    ++lines_.other;
    return;
  }
  if (!hold(input, line)) add_request(input, line.number, record_);
}

bool Replay::hold(Input& input, const LineReader::Line& line) {
  if (input.held && record_.time < input.held->time - kMaxJump) {
    ++lines_.malformed;
    note_bad_line(input, input.held->number, "the time is more than a day after the next line");
    input.held.reset();
  }
  release_held(input);
  if (input.newest && record_.time <= *input.newest + kMaxJump) return false;
  input.held = {.text = std::string(line.text), .number = line.number, .time = record_.time};
  return true;
}

void Replay::release_held(Input& input) {
  if (!input.held) return;
  const HeldLine held = *std::exchange(input.held, std::nullopt);
  LogRecord record;
  if (input.parser->parse(held.text, record).kind == LineOutcome::Kind::Request) {
    add_request(input, held.number, record);
  }
}

void Replay::add_request(Input& input, std::uint64_t line, const LogRecord& record) {
  input.latest = record.time;
  input.newest = std::max(input.newest.value_or(record.time), record.time);
  const auto attributes = attributes_.derive(record);
  if (!attributes) {
    ++lines_.rejected;
    return;
  }
  const auto number = static_cast<std::uint32_t>(
      std::find_if(inputs_.begin(), inputs_.end(),
                   [&](const auto& one) { return one.get() == &input; }) -
      inputs_.begin());
  if (record.time < decided_until_) ++lines_.late;
  waiting_.push({.time = std::max(record.time, decided_until_), .input = number, .line = line},
                **attributes);
}

void Replay::note_bad_line(const Input& input, std::uint64_t line, std::string_view reason) {
  if (bad_lines_.size() < kShownBadLines) {
    bad_lines_.push_back({.file = input.name, .line = line, .reason = reason});
  }
}

void Replay::decide_ready() {
  Instant until = Instant::max();
  for (const std::unique_ptr<Input>& input : inputs_) {
    if (input->is_at_end) continue;
    until = std::min(until, input->latest ? *input->latest - options_.window : Instant::min());
  }
  ReorderBuffer::Batch batch;
  while (waiting_.take(waiting_.bytes() > options_.max_waiting_bytes ? Instant::max() : until,
                       batch)) {
    decide(batch);
  }
}

void Replay::decide(const ReorderBuffer::Batch& batch) {
  std::vector<rules::Attribute>& entries = request_.descriptors.front().entries;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const RequestOrder& order = batch.order(i);
    entries.clear();
    batch.attributes(i, entries);
    decided_until_ = order.time;
    const service::Answer& answer = service_.decide(order.time, request_);
    statistics_.add(order.time, answer);
    if (on_decision_) on_decision_(order, request_, answer);
    if (against_) {
      const service::Answer& before = against_->service.decide(order.time, request_);
      against_->statistics.add(order.time, before);
      against_->difference.add(order.time, answer, before);
    }
    ++lines_.requests;
  }
}

std::vector<std::string> Replay::formats() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Input>& input : inputs_) {
    names.emplace_back(input->format ? to_string(*input->format) : "");
  }
  return names;
}

std::vector<std::string> Replay::warnings() const {
  std::vector<std::string> texts;
  if (lines_.requests == 0) return texts;
  if (const std::uint64_t evicted = memory().evicted; evicted > 0) {
    texts.push_back("the log has more keys than fit in memory: " + std::to_string(evicted) +
                    " were evicted, and their usage forgotten");
  }
  const std::vector<std::string> missing = attributes_.never_seen();
  const rules::Ruleset& ruleset = service_.rules();
  for (const auto& rule : ruleset.rules()) {
    if (rule->domain != options_.domain) continue;
    const auto used = ruleset.attributes_of(*rule);
    if (!used) {
      texts.push_back("the rules of domain " + rule->domain +
                      " match descriptors of Envoy, which access logs do not have");
      return texts;
    }
    for (const std::string& name : *used) {
      if (!std::binary_search(missing.begin(), missing.end(), name)) continue;
      texts.push_back(rule->domain + "/" + rule->name + " uses " + name +
                      ", which no request of the log has");
    }
  }
  return texts;
}

}  // namespace penstock::replay
