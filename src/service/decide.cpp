#include "service/decide.hpp"

#include "base/join.hpp"
#include "service/request_flow.hpp"

#include <boost/container/small_vector.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace penstock::service {
namespace {

using Answered = std::function<void(Answer)>;
using Operation = StoreCall::Operation;

// Longer lists of limits go to the heap.
template <class Element>
using ShortList = boost::container::small_vector<Element, 8>;

// Whether the store answered the call inline.
bool try_call(const ServiceDeps& deps, RequestFlow& flow, const StoreCall& call) {
  if (call.operation != Operation::Check || call.cost) return false;
  ShortList<const core::NamedCheck*> checks;
  flow.visit_limits(call, [&](std::uint32_t limit) { checks.push_back(&flow.check_of(limit)); });
  ShortList<Decision> decisions(checks.size());
  const base::Deadline since = base::monotonic_now();
  if (!deps.stores.limits.try_check(checks, decisions)) return false;
  deps.events.on_store_call(base::monotonic_now() - since, nullptr);
  flow.on_decisions(call, decisions);
  return true;
}

// The calls to the store that answer `call`.
std::vector<StoreCall> parts_of(const RequestFlow& flow, const StoreCall& call) {
  if (!call.is_one_by_one()) return {call};
  std::vector<StoreCall> parts;
  flow.visit_limits(call, [&](std::uint32_t limit) { parts.push_back({.limit = limit}); });
  return parts;
}

void send(const ServiceDeps& deps, const RequestFlow& flow, const StoreCall& call,
          base::Deadline deadline, store::Answered<store::Decisions> answered) {
  store::LimitStore& store = deps.stores.limits;
  std::vector<core::NamedCheck> checks = flow.checks_of(call);
  if (call.operation == Operation::Check) {
    store.check(std::move(checks), deadline, std::move(answered));
  } else {
    store.refund(std::move(checks), deadline, std::move(answered));
  }
}

void send_background(const ServiceDeps& deps, const RequestFlow& flow) {
  for (const StoreCall& call : flow.background()) {
    send(deps, flow, call, deps.background_deadline(), timed(deps.events));
  }
}

void finish(const ServiceDeps& deps, RequestFlow& flow, std::string_view domain,
            Reporting reporting, const Answered& answered) {
  if (reporting == Reporting::Here) deps.events.on_answer(domain, flow.answer());
  answered(std::move(flow.answer()));
}

// Drives a flow whose store takes time to answer. The calls in flight own it.
class Driver final : public std::enable_shared_from_this<Driver> {
 public:
  Driver(const ServiceDeps& deps, RequestFlow flow, std::string_view domain,
         base::Deadline deadline, Answered answered, Reporting reporting)
      : deps_(deps),
        flow_(std::move(flow)),
        domain_(domain),
        deadline_(deps.within(deadline)),
        answered_(std::move(answered)),
        reporting_(reporting),
        calls_([this] { advance(); }) {}

  void send_parts(std::span<const StoreCall> parts) {
    calls_.add();
    for (const StoreCall& part : parts) {
      calls_.add();
      send(deps_, flow_, part, deadline_,
           timed(deps_.events,
                 [self = shared_from_this(), part](const Result<store::Decisions>& said) {
                   said ? self->flow_.on_decisions(part, *said) : self->flow_.on_failure(part);
                   self->calls_.finish_one();
                 }));
    }
    calls_.finish_one();
  }

 private:
  void advance() {
    const std::optional<StoreCall> call = flow_.next();
    send_background(deps_, flow_);
    call ? send_parts(parts_of(flow_, *call))
         : finish(deps_, flow_, domain_, reporting_, answered_);
  }

  const ServiceDeps deps_;
  RequestFlow flow_;
  const std::string domain_;
  const base::Deadline deadline_;
  const Answered answered_;
  const Reporting reporting_;
  base::Join calls_;
};

}  // namespace

void decide(const ServiceDeps& deps, Answer&& undecided, std::string_view domain,
            base::Deadline deadline, Answered answered, Reporting reporting) {
  RequestFlow flow(deps.local, *deps.clock, std::move(undecided));
  const auto go_on_with = [&](std::span<const StoreCall> parts) {
    std::make_shared<Driver>(deps, std::move(flow), domain, deadline, std::move(answered),
                             reporting)
        ->send_parts(parts);
  };
  while (const std::optional<StoreCall> call = flow.next()) {
    send_background(deps, flow);
    if (!call->is_one_by_one()) {
      if (!try_call(deps, flow, *call)) return go_on_with({&*call, 1});
      continue;
    }
    const std::vector<StoreCall> parts = parts_of(flow, *call);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!try_call(deps, flow, parts[i])) return go_on_with(std::span(parts).subspan(i));
    }
  }
  send_background(deps, flow);
  finish(deps, flow, domain, reporting, answered);
}

Answer decide_without_store(const ServiceDeps& deps, Answer&& undecided) {
  RequestFlow flow(deps.local, *deps.clock, std::move(undecided));
  flow.finish_without_store();
  return std::move(flow.answer());
}

}  // namespace penstock::service
