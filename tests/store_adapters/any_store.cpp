#include "store_adapters/any_store.hpp"

#include "base/deadline.hpp"
#include "redis_store/requests.hpp"

namespace penstock::store_adapters {
namespace {

constexpr std::chrono::seconds kPatience{30};

base::Deadline patience() { return base::deadline_after(kPatience); }

}  // namespace

std::unique_ptr<AnyStore> AnyStore::embedded() {
  auto made = std::make_unique<AnyStore>();
  made->memory_ = std::make_unique<store::MemoryStore>(MemoryOptions{});
  made->store_ = std::make_unique<store::EmbeddedStore>(*made->memory_);
  return made;
}

std::unique_ptr<AnyStore> AnyStore::shared(const RedisOptions& options) {
  auto made = std::make_unique<AnyStore>();
  auto store = std::make_unique<redis_store::SharedStore>(
      made->io_.get_executor(), options, redis_store::client_options(options).value());
  store->start();
  made->store_ = std::move(store);
  return made;
}

bool AnyStore::run_until(const std::function<bool()>& holds) {
  const base::Deadline end = patience();
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
  return wait_for<Decisions>([&](auto answered) { store_->check(checks, patience(), answered); });
}

Result<AnyStore::Decisions> AnyStore::refund(const NamedChecks& checks) {
  return wait_for<Decisions>([&](auto answered) { store_->refund(checks, patience(), answered); });
}

Result<bool> AnyStore::reset(const Names& names) {
  return wait_for<bool>([&](auto answered) { store_->reset(names, patience(), answered); });
}

Result<bool> AnyStore::block(const Names& names, Duration duration) {
  return wait_for<bool>(
      [&](auto answered) { store_->block(names, duration, patience(), answered); });
}

Result<std::int64_t> AnyStore::add(Kind kind, const std::string& name, std::int64_t delta,
                                   std::optional<Duration> lifetime) {
  return wait_for<std::int64_t>(
      [&](auto answered) { store_->add(kind, name, delta, lifetime, patience(), answered); });
}

Result<std::int64_t> AnyStore::get(Kind kind, const std::string& name) {
  return wait_for<std::int64_t>(
      [&](auto answered) { store_->get(kind, name, patience(), answered); });
}

Result<bool> AnyStore::remove(const std::string& name) {
  return wait_for<bool>([&](auto answered) { store_->remove(name, patience(), answered); });
}

Result<store::Store::Counter> AnyStore::look(const std::string& name) {
  return wait_for<store::Store::Counter>(
      [&](auto answered) { store_->look(name, patience(), answered); });
}

Result<bool> AnyStore::expire(const std::string& name, Duration lifetime,
                              store::Store::Renewal renewal) {
  return wait_for<bool>(
      [&](auto answered) { store_->expire(name, lifetime, renewal, patience(), answered); });
}

Result<store::ReservationAnswer> AnyStore::step(store::ReservationAsk ask) {
  return wait_for<store::ReservationAnswer>(
      [&](auto answered) { store_->reservations().ask(ask, patience(), answered); });
}

Result<std::vector<std::string>> AnyStore::due(std::size_t most) {
  return wait_for<std::vector<std::string>>(
      [&](auto answered) { store_->reservations().due(most, patience(), answered); });
}

Result<core::SeatAnswer> AnyStore::acquire(store::SeatName seat, std::uint32_t limit,
                                           Duration lasts) {
  return wait_for<core::SeatAnswer>(
      [&](auto answered) { store_->seats().acquire(seat, limit, lasts, patience(), answered); });
}

Result<core::SeatAnswer> AnyStore::renew(store::SeatName seat, Duration lasts) {
  return wait_for<core::SeatAnswer>(
      [&](auto answered) { store_->seats().renew(seat, lasts, patience(), answered); });
}

Result<bool> AnyStore::release(store::SeatName seat) {
  return wait_for<bool>(
      [&](auto answered) { store_->seats().release(seat, patience(), answered); });
}

RedisOptions patient(std::string url, std::string prefix) {
  RedisOptions options;
  options.url = std::move(url);
  options.timeout = std::chrono::seconds{5};
  options.connect_timeout = std::chrono::seconds{5};
  options.key_prefix = std::move(prefix);
  return options;
}

}  // namespace penstock::store_adapters
