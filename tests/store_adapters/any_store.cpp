#include "store_adapters/any_store.hpp"

#include "base/deadline.hpp"
#include "redis_store/requests.hpp"

namespace penstock::store_adapters {
namespace {

constexpr std::chrono::seconds kTestTimeout{30};

base::Deadline test_deadline() { return base::deadline_after(kTestTimeout); }

}  // namespace

std::unique_ptr<AnyStore> AnyStore::embedded() {
  auto made = std::make_unique<AnyStore>();
  made->memory_ = std::make_unique<store::ShardedTable>(MemoryOptions{});
  made->embedded_ = std::make_unique<store::MemoryStore>(*made->memory_);
  return made;
}

std::unique_ptr<AnyStore> AnyStore::shared(const RedisOptions& options) {
  auto made = std::make_unique<AnyStore>();
  made->redis_ = std::make_unique<redis_store::RedisStore>(
      made->io_.get_executor(), options, redis_store::client_options(options).value());
  made->redis_->start();
  return made;
}

bool AnyStore::run_until(const std::function<bool()>& holds) {
  const base::Deadline end = test_deadline();
  while (!holds() && base::monotonic_now() < end) {
    io_.restart();
    io_.run_one_for(std::chrono::milliseconds(10));
  }
  return holds();
}

template <class T, class Ask>
Result<T> AnyStore::wait_for(Ask ask) {
  std::optional<Result<T>> answer;
  ask([&](Result<T> said) { answer.emplace(std::move(said)); });
  if (!run_until([&] { return answer.has_value(); })) {
    return Error{ErrorCode::Timeout, "never answered"};
  }
  return *answer;
}

Result<AnyStore::Decisions> AnyStore::check(const NamedChecks& checks) {
  return wait_for<Decisions>(
      [&](auto answered) { limits().check(checks, test_deadline(), answered); });
}

Result<AnyStore::Decisions> AnyStore::refund(const NamedChecks& checks) {
  return wait_for<Decisions>(
      [&](auto answered) { limits().refund(checks, test_deadline(), answered); });
}

Result<bool> AnyStore::reset(const Names& names) {
  return wait_for<bool>([&](auto answered) { limits().reset(names, test_deadline(), answered); });
}

Result<bool> AnyStore::block(const Names& names, Duration duration) {
  return wait_for<bool>(
      [&](auto answered) { limits().block(names, duration, test_deadline(), answered); });
}

Result<std::int64_t> AnyStore::add(Kind kind, const std::string& name, std::int64_t delta,
                                   std::optional<Duration> lifetime) {
  return wait_for<std::int64_t>([&](auto answered) {
    stores().counters.add(kind, name, delta, lifetime, test_deadline(), answered);
  });
}

Result<std::int64_t> AnyStore::get(Kind kind, const std::string& name) {
  return wait_for<std::int64_t>(
      [&](auto answered) { stores().counters.get(kind, name, test_deadline(), answered); });
}

Result<bool> AnyStore::remove(const std::string& name) {
  return wait_for<bool>(
      [&](auto answered) { stores().counters.remove(name, test_deadline(), answered); });
}

Result<store::CounterValues> AnyStore::read_counter(const std::string& name) {
  return wait_for<store::CounterValues>(
      [&](auto answered) { stores().counters.read_counter(name, test_deadline(), answered); });
}

Result<bool> AnyStore::expire(const std::string& name, Duration lifetime,
                              store::ExpireCondition condition) {
  return wait_for<bool>([&](auto answered) {
    stores().counters.expire(name, lifetime, condition, test_deadline(), answered);
  });
}

Result<store::ReservationAnswer> AnyStore::step(store::ReservationRequest ask) {
  return wait_for<store::ReservationAnswer>(
      [&](auto answered) { stores().reservations.ask(ask, test_deadline(), answered); });
}

Result<std::vector<std::string>> AnyStore::due(std::size_t most) {
  return wait_for<std::vector<std::string>>(
      [&](auto answered) { stores().reservations.due(most, test_deadline(), answered); });
}

Result<core::PermitResult> AnyStore::acquire(store::PermitName permit, std::uint32_t limit,
                                             Duration lasts) {
  return wait_for<core::PermitResult>([&](auto answered) {
    stores().permits.acquire(permit, limit, lasts, test_deadline(), answered);
  });
}

Result<core::PermitResult> AnyStore::renew(store::PermitName permit, Duration lasts) {
  return wait_for<core::PermitResult>(
      [&](auto answered) { stores().permits.renew(permit, lasts, test_deadline(), answered); });
}

Result<bool> AnyStore::release(store::PermitName permit) {
  return wait_for<bool>(
      [&](auto answered) { stores().permits.release(permit, test_deadline(), answered); });
}

RedisOptions long_timeout_options(std::string url, std::string prefix) {
  RedisOptions options;
  options.url = std::move(url);
  options.timeout = std::chrono::seconds{5};
  options.connect_timeout = std::chrono::seconds{5};
  options.key_prefix = std::move(prefix);
  return options;
}

}  // namespace penstock::store_adapters
