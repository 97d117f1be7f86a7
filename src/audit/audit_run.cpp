#include "audit/audit_run.hpp"

#include "audit/redis_access.hpp"
#include "core/duration_text.hpp"
#include "penstock/clock.hpp"
#include "redis_store/script_calls.hpp"
#include "redis_store/scripts.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::audit {
namespace {

using redis_store::BlockingStore;
using redis_store::command_for_node;
using std::chrono::milliseconds;

constexpr std::size_t kMemoryEvery = 16;  // MEMORY USAGE is slow: one key in this many
constexpr std::int64_t kShortState = 4096;
constexpr std::size_t kMaxRepairsListed = 20;
constexpr std::size_t kReadAtOnce = 16;  // suspects read again per step

// PEXPIRE … NX, for servers before 7.0.
constexpr const char* kGiveTtl =
    "if redis.call('PTTL', KEYS[1]) ~= -1 then return 0 end "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[1])";

// A key that changed its type or expired between two commands is not a failure.
bool is_about_the_key(const Error& error) { return error.code == ErrorCode::Protocol; }

class AuditRun {
 public:
  AuditRun(BlockingStore& store, const AuditOptions& options,
           std::function<void(double)> on_progress)
      : store_(store),
        options_(options),
        layout_(options.prefix),
        pace_(options.keys_per_second),
        on_progress_(std::move(on_progress)) {}

  Result<AuditReport> run() {
    const std::vector<redis::NodeId> masters = store_.masters();
    for (const redis::NodeId node : masters) {
      const Result<ServerInfo> facts = ask_about(node);
      if (!facts) return facts.error();
      report_.servers.push_back(*facts);
    }
    on_progress_(0);
    for (std::size_t i = 0; i < masters.size(); ++i) {
      clock_skew_ = report_.servers[i].clock_skew;
      const Result<void> scanned =
          scan(store_, {.node = masters[i], .prefix = options_.prefix + ":", .page = options_.page},
               options_.timeout,
               [&](std::span<const std::string> keys) { return take_page(masters[i], keys); });
      if (!scanned) return scanned.error();
    }
    on_progress_(1);
    return std::move(report_);
  }

 private:
  Result<ServerInfo> ask_about(redis::NodeId node) {
    Result<resp::Value> info =
        execute_one(store_, command_for_node(node, {"INFO"}), options_.timeout);
    if (!info) return info.error();
    ServerInfo facts = parse_server_info(store_.address_of(node), info->text);
    const Result<resp::Value> size =
        execute_one(store_, command_for_node(node, {"DBSIZE"}), options_.timeout);
    if (!size) return size.error();
    keys_expected_ += static_cast<std::uint64_t>(std::max<std::int64_t>(size->integer, 0));

    const Instant before = system_clock().now();
    const Result<resp::Value> time =
        execute_one(store_, command_for_node(node, {"TIME"}), options_.timeout);
    if (!time) return time.error();
    const std::optional<Instant> server_time = instant_of(*time);
    if (!server_time) return Error{ErrorCode::Protocol, "malformed reply to TIME"};
    const Duration half_trip = (system_clock().now() - before) / 2;
    facts.clock_skew = *server_time - (before + half_trip);
    facts.skew_uncertainty = half_trip;

    for (const redis::Script* script : redis_store::scripts().all()) {
      const Result<resp::Value> exists = execute_one(
          store_, command_for_node(node, {"SCRIPT", "EXISTS", script->sha1}), options_.timeout);
      if (!exists && !is_about_the_key(exists.error())) return exists.error();
      ++facts.scripts_wanted;
      if (exists && !exists->elements.empty() && exists->elements.front().integer == 1) {
        ++facts.scripts;
      }
    }
    return facts;
  }

  Result<void> take_page(redis::NodeId node, std::span<const std::string> keys) {
    if (options_.stop.stop_requested()) return Error{ErrorCode::Unavailable, "stopped"};
    pace_.wait_for(options_.page);
    Result<std::vector<ScannedKey>> seen = look_at(node, keys);
    if (!seen) return seen.error();
    const Result<void> read = read_states(node, *seen);
    if (!read) return read.error();
    const Result<void> confirmed = confirm_orphans(node, *seen);
    if (!confirmed) return confirmed.error();
    for (const ScannedKey& each : *seen) {
      KeyFinding finding = classify(each, layout_);
      if (finding.lacks_ttl && options_.repair == Repair::Yes) {
        const Result<bool> repaired = repair(node, each);
        if (!repaired) return repaired.error();
        finding.lacks_ttl = !*repaired;
      }
      report_.summary.add(each, finding);
    }
    scanned_keys_ += options_.page;
    if (keys_expected_ > 0) {
      on_progress_(
          std::min(0.99, static_cast<double>(scanned_keys_) / static_cast<double>(keys_expected_)));
    }
    return {};
  }

  Result<std::vector<ScannedKey>> look_at(redis::NodeId node, std::span<const std::string> keys) {
    std::vector<redis::Command> commands;
    for (const std::string& key : keys) {
      commands.push_back(command_for_node(node, {"TYPE", key}));
      commands.push_back(command_for_node(node, {"PTTL", key}));
      if (is_sampled(key)) commands.push_back(command_for_node(node, {"MEMORY", "USAGE", key}));
    }
    const auto replies = store_.commands(std::move(commands), options_.timeout);
    std::vector<ScannedKey> seen;
    std::size_t next = 0;
    for (const std::string& key : keys) {
      const Result<resp::Value>& type = replies[next++];
      const Result<resp::Value>& ttl = replies[next++];
      if (!type) return type.error();
      if (!ttl) return ttl.error();
      ScannedKey each{.key = key, .type = type->text, .ttl_ms = ttl->integer};
      if (is_sampled(key)) {
        const Result<resp::Value>& memory = replies[next++];
        // the user may lack the permission
        if (memory && memory->is(resp::Value::Type::Integer)) each.memory = memory->integer;
      }
      if (each.ttl_ms != ScannedKey::kMissing && each.type != "none") {
        seen.push_back(std::move(each));
      }
    }
    return seen;
  }

  // By its name, so that the result is stable.
  static bool is_sampled(const std::string& key) {
    return std::hash<std::string>{}(key) % kMemoryEvery == 0;
  }

  Result<void> read_states(redis::NodeId node, std::vector<ScannedKey>& seen) {
    std::vector<ScannedKey*> strings;
    std::vector<redis::Command> commands;
    const std::string last = std::to_string(kShortState - 1);
    for (ScannedKey& each : seen) {
      if (each.type != "string") continue;
      strings.push_back(&each);
      commands.push_back(command_for_node(node, {"STRLEN", each.key}));
      commands.push_back(command_for_node(node, {"GETRANGE", each.key, "0", last}));
    }
    auto replies = store_.commands(std::move(commands), options_.timeout);
    for (std::size_t i = 0; i < strings.size(); ++i) {
      const Result<resp::Value>& length = replies[2 * i];
      Result<resp::Value>& bytes = replies[2 * i + 1];
      if (length && length->integer > kShortState) {  // a long log; one at a time
        pace_.wait_for(static_cast<std::uint64_t>(length->integer / kShortState));
        bytes =
            execute_one(store_, command_for_node(node, {"GET", strings[i]->key}), options_.timeout);
      }
      if (!bytes && !is_about_the_key(bytes.error())) return bytes.error();
      strings[i]->bytes = bytes ? std::move(bytes->text) : std::string{};
    }
    return {};
  }

  // An orphan may have changed between two commands: it is read again atomically, and dropped if it
  // no longer exists.
  Result<void> confirm_orphans(redis::NodeId node, std::vector<ScannedKey>& seen) {
    const auto healthy_end = std::partition(seen.begin(), seen.end(), [&](const ScannedKey& each) {
      return !is_orphan(classify(each, layout_));
    });
    std::vector<ScannedKey> suspects(std::make_move_iterator(healthy_end),
                                     std::make_move_iterator(seen.end()));
    seen.erase(healthy_end, seen.end());
    for (std::size_t first = 0; first < suspects.size(); first += kReadAtOnce) {
      const std::size_t count = std::min(kReadAtOnce, suspects.size() - first);
      pace_.wait_for(count);
      std::vector<redis::Command> commands;
      for (std::size_t i = first; i < first + count; ++i) {
        commands.push_back(command_for_node(node, {"EVAL", kReadKeyScript, "1", suspects[i].key}));
      }
      Result<std::vector<resp::Value>> replies =
          execute_all(store_, std::move(commands), options_.timeout);
      if (!replies) return replies.error();
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<resp::Value>& fields = (*replies)[i].elements;
        if (fields.size() != 3) {
          return Error{ErrorCode::Protocol, "malformed reply about a key"};
        }
        std::optional<ScannedKey> again =
            scanned_key(std::move(suspects[first + i]), std::move(fields[0].text),
                        fields[1].integer, std::move(fields[2].text));
        if (again) seen.push_back(*std::move(again));
      }
    }
    return {};
  }

  Result<bool> repair(redis::NodeId node, const ScannedKey& seen) {
    const auto ttl = repair_ttl(seen, layout_, system_clock().now() + clock_skew_);
    if (!ttl) return false;
    const std::string text = std::to_string(ttl->count());
    const Result<resp::Value> done = execute_one(
        store_, command_for_node(node, {"EVAL", kGiveTtl, "1", seen.key, text}), options_.timeout);
    if (!done) return done.error();
    if (done->integer == 1) {
      ++report_.repaired;
      if (report_.repairs.size() < kMaxRepairsListed) {
        report_.repairs.push_back(seen.key + " expires in " + core::rounded_up_text(*ttl));
      }
    }
    return true;  // or another client has set one
  }

  BlockingStore& store_;
  const AuditOptions& options_;
  redis_store::KeyLayout layout_;
  Pace pace_;
  std::function<void(double)> on_progress_;
  AuditReport report_;
  std::uint64_t keys_expected_ = 0;
  std::uint64_t scanned_keys_ = 0;
  Duration clock_skew_{};  // of the current server
};

}  // namespace

Result<AuditReport> audit(BlockingStore& store, const AuditOptions& options,
                          const std::function<void(double)>& on_progress) {
  return AuditRun(store, options, on_progress).run();
}

}  // namespace penstock::audit
