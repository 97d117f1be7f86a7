// What clients and people ask a server about itself.
#include "wire/resp/commands.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace penstock::wire::resp {
namespace {

// As Redis 7 describes a command; what it is in no need of is empty.
void write_description(ReplyWriter& reply, const Command& command) {
  const auto words = static_cast<std::int64_t>(command.least);
  reply.array(10);
  reply.bulk(command.name);
  reply.integer(command.most == command.least ? words : -words);
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

std::vector<Section> sections(const Exchange& exchange) {
  const Surroundings& around = exchange.surroundings();
  const net::Statistics& counted = around.statistics;
  return {{"Server",
           {{"penstock_version", around.terms.version},
            {"redis_version", "7.0.0"},  // whose commands these are
            {"redis_mode", "standalone"}}},
          {"Clients", {{"connected_clients", std::to_string(counted.open)}}},
          {"Persistence", {{"loading", "0"}}},
          {"Stats",
           {{"total_connections_received", std::to_string(counted.accepted)},
            {"rejected_connections", std::to_string(counted.refused)},
            {"total_commands_processed", std::to_string(counted.requests)},
            {"total_net_input_bytes", std::to_string(counted.bytes_in)},
            {"total_net_output_bytes", std::to_string(counted.bytes_out)}}},
          {"Replication", {{"role", "master"}, {"connected_slaves", "0"}}}};
}

bool is_wanted(const Exchange& exchange, std::string_view section) {
  const auto words = exchange.words().subspan(1);
  if (words.empty()) return true;
  const std::string wanted = in_small(section);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return is_word(word, wanted) || is_word(word, "all") || is_word(word, "everything") ||
           is_word(word, "default");
  });
}

}  // namespace

// COMMAND [COUNT | LIST | DOCS … | INFO name …]: the commands that there are.
void command(const Exchange& exchange) {
  const std::string what =
      exchange.size() > 1 ? in_small(exchange.word(1).substr(0, 64)) : std::string{};
  if (what == "count") {
    return exchange.reply().integer(static_cast<std::int64_t>(all_commands().size()));
  }
  if (what == "docs") return exchange.reply().map(0);
  if (what.empty() || (what == "info" && exchange.size() == 2)) {
    ReplyWriter reply = exchange.reply();
    reply.array(all_commands().size());
    for (const Command& each : all_commands()) write_description(reply, each);
    return;
  }
  if (what == "list" && exchange.size() == 2) {
    ReplyWriter reply = exchange.reply();
    reply.array(all_commands().size());
    for (const Command& each : all_commands()) reply.bulk(each.name);
    return;
  }
  if (what != "info") {
    return exchange.refuse("ERR unknown subcommand '" + what + "'. Try COMMAND COUNT.");
  }
  ReplyWriter reply = exchange.reply();
  reply.array(exchange.size() - 2);
  for (const std::string_view name : exchange.words().subspan(2)) {
    const Command* const found = find_command(name);
    if (found == nullptr) {
      reply.null();
    } else {
      write_description(reply, *found);
    }
  }
}

// INFO [section …]: lines of "name:value". The numbers are those of one worker.
void info(const Exchange& exchange) {
  std::string text;
  for (const Section& section : sections(exchange)) {
    if (!is_wanted(exchange, section.title)) continue;
    if (!text.empty()) text += "\r\n";
    text += "# " + std::string(section.title) + "\r\n";
    for (const auto& [name, value] : section.lines) {
      text += std::string(name) + ":" + value + "\r\n";
    }
  }
  exchange.reply().bulk(text);
}

}  // namespace penstock::wire::resp
