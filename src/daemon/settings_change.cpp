#include "daemon/settings_change.hpp"

#include "redis_store/requests.hpp"
#include "rules/settings/settings_options.hpp"

namespace penstock::daemon {
namespace {

// A new user or password of the same server is not a new URL.
bool is_same(const rules::SettingsOption& option, const rules::Settings& old,
             const rules::Settings& now) {
  if (option.name == "store.url") return redis_store::same_server(old.store_url, now.store_url);
  return option.equal(old, now);
}

// A listener without its section serves until the restart, with the settings that it has.
template <class Section>
void keep_if_removed(const Section& in_force, Section& next, const Section& now) {
  if (now.listen.empty()) next = in_force;
}

}  // namespace

std::string needs_restart(const rules::Settings& old, const rules::Settings& now) {
  std::string names;
  for (const rules::SettingsOption& option : rules::settings_options()) {
    if (option.restart_reason.empty() || is_same(option, old, now)) continue;
    names += (names.empty() ? "" : ", ") + option.name;
  }
  return names;
}

rules::Settings with_reloadable(const rules::Settings& in_force, const rules::Settings& now) {
  rules::Settings next = now;
  for (const rules::SettingsOption& option : rules::settings_options()) {
    if (!option.restart_reason.empty() && !is_same(option, in_force, now)) {
      option.copy(in_force, next);
    }
  }
  keep_if_removed(in_force.grpc, next.grpc, now.grpc);
  keep_if_removed(in_force.resp, next.resp, now.resp);
  keep_if_removed(in_force.gateway, next.gateway, now.gateway);
  if (!next.uses_memory_store()) next.redis.url = next.store_url;
  return next;
}

}  // namespace penstock::daemon
