// The calls of Service about overrides.
#include "service/service.hpp"

#include <utility>

namespace penstock::service {

void Service::prepare_overrides() const {
  overrides_generation_ = deps_.overrides->generation();
  overrides_ = Overrides(*deps_.overrides->list(), *rules_);
}

void Service::refresh_overrides(base::Deadline deadline,
                                std::function<void(const Result<void>&)> done) {
  if (deps_.overrides == nullptr) return done({});
  LiveOverrides& live = *deps_.overrides;
  const std::uint64_t ticket = live.begin_read();
  deps_.stores.operators.list_overrides(
      live.version(), deadline,
      [&live, ticket, done = std::move(done)](Result<store::OverrideList> read) {
        if (!read) return done(read.error());
        live.publish(ticket, *std::move(read));
        done({});
      });
}

void Service::set_override(store::Override set, Duration lasts, base::Deadline deadline,
                           store::Answered<store::Override> answered) {
  Result<store::Override> checked = checked_override(*rules_, std::move(set));
  if (!checked) return answered(checked.error());
  deps_.stores.operators.set_override(
      *std::move(checked), lasts, deadline,
      [this, deadline, answered = std::move(answered)](const Result<store::Override>& made) {
        if (!made) return answered(made.error());
        refresh_overrides(deadline, [made, answered](const Result<void>&) { answered(made); });
      });
}

void Service::remove_override(store::Override removed, base::Deadline deadline,
                              store::Answered<std::optional<store::Override>> answered) {
  // One that was set under other rules has the subject of those: as given, it is as listed.
  store::Override named = named_override(*rules_, removed);
  const bool is_canonical = named.subject == removed.subject;
  deps_.stores.operators.remove_override(
      std::move(removed), deadline,
      [this, deadline, named = std::move(named), is_canonical,
       answered = std::move(answered)](const Result<std::optional<store::Override>>& before) {
        if (before && !*before && !is_canonical) return remove_override(named, deadline, answered);
        if (!before || !*before) return answered(before);
        refresh_overrides(deadline, [before, answered](const Result<void>&) { answered(before); });
      });
}

}  // namespace penstock::service
