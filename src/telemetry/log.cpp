#include "telemetry/log.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>

namespace penstock::telemetry {
namespace {

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: break;
  }
  return spdlog::level::err;
}

// Adds quotation marks; invalid UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Like quoted(), without quotation marks.
std::string escaped(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char letter) {
    return static_cast<unsigned char>(letter) >= ' ' && letter != 0x7f;
  });
  if (is_plain) return std::string(text);
  const std::string quote = quoted(text);
  return quote.substr(1, quote.size() - 2);
}

std::string text_line(std::string_view message, Log::Fields fields) {
  std::string line = escaped(message);
  for (const LogField& field : fields) {
    line += ' ';
    line += escaped(field.name);
    line += '=';
    line += quoted(field.value);
  }
  return line;
}

std::string json_members(std::string_view message, Log::Fields fields) {
  std::string members = "\"message\":" + quoted(message);
  for (const LogField& field : fields) {
    members += ',' + quoted(field.name) + ':' + quoted(field.value);
  }
  return members;
}

}  // namespace

struct Log::Impl {
  Impl(const LogOptions& options, spdlog::sink_ptr sink)
      : clock(options.clock == nullptr ? system_clock() : *options.clock),
        logger("penstock", std::move(sink)) {
    use(options);
    logger.flush_on(spdlog::level::debug);
  }

  void use(const LogOptions& options) {
    const std::unique_lock lock(format_mutex);
    format = options.format;
    logger.set_pattern(format == LogFormat::Text ? kTextPattern : kJsonPattern,
                       spdlog::pattern_time_type::utc);
    logger.set_level(level_of(options.level));
  }

  const Clock& clock;
  std::shared_mutex format_mutex{};  // a line has one format
  LogFormat format{};                // guarded by format_mutex
  spdlog::logger logger;
};

Log::Log(const LogOptions& options)
    : impl_(std::make_unique<Impl>(options, std::make_shared<spdlog::sinks::stderr_sink_mt>())) {}

Log::Log(const LogOptions& options, std::ostream& out)
    : impl_(
          std::make_unique<Impl>(options, std::make_shared<spdlog::sinks::ostream_sink_mt>(out))) {}

Log::~Log() = default;

void Log::use(const LogOptions& options) { impl_->use(options); }

bool Log::writes(LogLevel level) const { return impl_->logger.should_log(level_of(level)); }

void Log::write(LogLevel level, std::string_view message, Fields fields) {
  if (!writes(level)) return;
  const std::shared_lock lock(impl_->format_mutex);
  const std::string line =
      impl_->format == LogFormat::Text ? text_line(message, fields) : json_members(message, fields);
  const auto now = std::chrono::time_point_cast<spdlog::log_clock::duration>(impl_->clock.now());
  impl_->logger.log(now, spdlog::source_loc{}, level_of(level), spdlog::string_view_t(line));
}

void RateLimitedLog::write(LogLevel level, std::string_view message, Log::Fields fields) {
  tick();
  if (written_ >= most_) {
    ++suppressed_count_;
    suppressed_.add();
    return;
  }
  ++written_;
  log_.write(level, message, fields);
}

void RateLimitedLog::tick() {
  const Instant now = clock_.now();
  // A clock that steps back starts a new second too.
  if (now >= second_ && now - second_ < std::chrono::seconds{1}) return;
  if (suppressed_count_ > 0) {
    log_.warning("… and " + std::to_string(suppressed_count_) + " more like these");
  }
  second_ = now;
  written_ = 0;
  suppressed_count_ = 0;
}

}  // namespace penstock::telemetry
