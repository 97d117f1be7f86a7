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

}  // namespace

std::string needs_restart(const rules::Settings& old, const rules::Settings& now) {
  std::string names;
  for (const rules::SettingsOption& option : rules::settings_options()) {
    if (option.takes_effect == rules::TakesEffect::OnReload || is_same(option, old, now)) continue;
    names += (names.empty() ? "" : ", ") + option.name;
  }
  return names;
}

void apply_reloadable(rules::Settings& in_force, const rules::Settings& now) {
  for (const rules::SettingsOption& option : rules::settings_options()) {
    if (option.takes_effect == rules::TakesEffect::OnReload) option.copy(now, in_force);
  }
  if (!redis_store::same_server(in_force.store_url, now.store_url)) return;
  in_force.store_url = now.store_url;
  in_force.redis.url = now.redis.url;
}

}  // namespace penstock::daemon
