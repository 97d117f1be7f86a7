// Commands that describe the server.
#include "wire/resp/commands.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace penstock::wire::resp {
namespace {

// As Redis 7 describes a command; unused elements are empty.
void write_description(ReplyWriter& reply, const Command& command) {
  const auto words = static_cast<std::int64_t>(command.min_words);
  reply.array(10);
  reply.bulk(command.name);
  reply.integer(command.max_words == command.min_words ? words : -words);
  reply.array(2);
  reply.simple(command.kind == Command::Kind::Read ? "readonly" : "write");
  reply.simple("fast");
  reply.integer(command.has_key ? 1 : 0);
  reply.integer(command.has_key ? 1 : 0);
  reply.integer(command.has_key ? 1 : 0);
  for (int i = 0; i < 4; ++i) reply.array(0);  // categories, tips, keys, subcommands
}

using Lines = std::vector<std::pair<std::string_view, std::string>>;

struct Section {
  std::string_view title;
  Lines lines;
};

std::vector<Section> sections(const CommandContext& context) {
  const ServerContext& around = context.server_context();
  const net::Statistics& counted = around.statistics;
  return {{"Server",
           {{"penstock_version", around.settings.version},
            {"redis_version", "7.0.0"},  // the version of the commands
            {"redis_mode", "standalone"}}},
          {"Clients", {{"connected_clients", std::to_string(counted.open)}}},
          {"Persistence", {{"loading", "0"}}},
          {"Stats",
           {{"total_connections_received", std::to_string(counted.accepted)},
            {"rejected_connections", std::to_string(counted.rejected)},
            {"total_commands_processed", std::to_string(counted.requests)},
            {"total_net_input_bytes", std::to_string(counted.bytes_in)},
            {"total_net_output_bytes", std::to_string(counted.bytes_out)}}},
          {"Replication", {{"role", "master"}, {"connected_slaves", "0"}}}};
}

bool is_wanted(const CommandContext& context, std::string_view section) {
  const auto words = context.words().subspan(1);
  if (words.empty()) return true;
  const std::string wanted = to_lower(section);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return equals_ignoring_case(word, wanted) || equals_ignoring_case(word, "all") ||
           equals_ignoring_case(word, "everything") || equals_ignoring_case(word, "default");
  });
}

}  // namespace

// COMMAND [COUNT | LIST | DOCS … | INFO name …]: the commands that there are.
void command(const CommandContext& context) {
  const std::string what =
      context.size() > 1 ? to_lower(context.word(1).substr(0, 64)) : std::string{};
  if (what == "count") {
    return context.reply().integer(static_cast<std::int64_t>(all_commands().size()));
  }
  if (what == "docs") return context.reply().map(0);
  if (what.empty() || (what == "info" && context.size() == 2)) {
    ReplyWriter reply = context.reply();
    reply.array(all_commands().size());
    for (const Command& each : all_commands()) write_description(reply, each);
    return;
  }
  if (what == "list" && context.size() == 2) {
    ReplyWriter reply = context.reply();
    reply.array(all_commands().size());
    for (const Command& each : all_commands()) reply.bulk(each.name);
    return;
  }
  if (what != "info") {
    return context.error("ERR unknown subcommand '" + what + "'. Try COMMAND COUNT.");
  }
  ReplyWriter reply = context.reply();
  reply.array(context.size() - 2);
  for (const std::string_view name : context.words().subspan(2)) {
    const Command* const found = find_command(name);
    if (found == nullptr) {
      reply.null();
    } else {
      write_description(reply, *found);
    }
  }
}

// INFO [section …]: lines of "name:value". The numbers are of one worker.
void info(const CommandContext& context) {
  std::string text;
  for (const Section& section : sections(context)) {
    if (!is_wanted(context, section.title)) continue;
    if (!text.empty()) text += "\r\n";
    text += "# " + std::string(section.title) + "\r\n";
    for (const auto& [name, value] : section.lines) {
      text += std::string(name) + ":" + value + "\r\n";
    }
  }
  context.reply().bulk(text);
}

}  // namespace penstock::wire::resp
