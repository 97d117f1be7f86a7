#include "redis/sentinel.hpp"

#include "base/check.hpp"
#include "base/text.hpp"
#include "redis/connection.hpp"
#include "redis/server_error.hpp"
#include "resp/command.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace penstock::redis {

namespace {

using Type = resp::Value::Type;

std::optional<HostPort> address(std::string_view host, std::string_view port) {
  const auto number = base::parse_number<std::uint16_t>(port);
  if (host.empty() || !number || *number == 0) return std::nullopt;
  return HostPort{.host = std::string(host), .port = *number};
}

std::string_view next_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

SentinelOrder::SentinelOrder(std::vector<HostPort> sentinels) : sentinels_(std::move(sentinels)) {
  PENSTOCK_CHECK(!sentinels_.empty());
}

void SentinelOrder::on_failure(const HostPort& sentinel) {
  if (sentinels_.front() == sentinel) {
    std::rotate(sentinels_.begin(), sentinels_.begin() + 1, sentinels_.end());
  }
}

Result<HostPort> read_master_address(const resp::Value& reply, std::string_view name) {
  if (reply.is(Type::Error)) return error_for_caller(read_server_error(reply.text), reply.text);
  if (reply.is(Type::Nil)) {
    return Error{ErrorCode::Misconfigured, "knows no master \"" + std::string(name) + "\""};
  }
  const std::vector<resp::Value>& parts = reply.elements;
  std::optional<HostPort> found;
  if (parts.size() == 2) found = address(parts[0].text, parts[1].text);
  if (!found) return Error{ErrorCode::Protocol, "returned no address of the master"};
  return *std::move(found);
}

std::optional<HostPort> read_switch_master(const resp::Value& message, std::string_view name) {
  // ["message", "+switch-master", "name old-host old-port new-host new-port"]
  if (message.elements.size() != 3 || message.elements[0].text != "message") return std::nullopt;
  std::string_view text = message.elements[2].text;
  std::array<std::string_view, 5> words{};
  for (std::string_view& word : words) word = next_word(text);
  if (words[0] != name) return std::nullopt;
  return address(words[3], words[4]);
}
namespace {

namespace asio = boost::asio;

// A sentinel that is silent for this long may have crashed; the next one is used.
constexpr std::chrono::seconds kMaxSilence{30};

}  // namespace

SentinelLocator::SentinelLocator(asio::any_io_executor executor,
                                 std::shared_ptr<const NodeSettings> settings)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      order_(settings_->options.url.hosts),
      backoff_(settings_->options.reconnect_min_pause, settings_->options.reconnect_max_pause),
      pause_timer_(executor_),
      random_(std::random_device{}()) {}

std::string SentinelLocator::name() const {
  return "master \"" + settings_->options.url.master_name + "\"";
}

void SentinelLocator::listen(std::function<void(HostPort)> on_switch) {
  on_switch_ = std::move(on_switch);
  spawn(executor_, run(shared_from_this()));
}

void SentinelLocator::stop() {
  stopped_ = true;
  on_switch_ = nullptr;
  pause_timer_.cancel();
  if (asking_ != nullptr) asking_->close("stopped");
  if (subscribed_ != nullptr) subscribed_->close("stopped");
}

asio::awaitable<Result<Endpoint>> SentinelLocator::locate() {
  Error why{ErrorCode::Unavailable, "stopped"};
  for (std::size_t tried = 0; tried < order_.size() && !stopped_; ++tried) {
    const HostPort sentinel = order_.front();
    Result<HostPort> found = co_await ask(sentinel);
    if (found) co_return Endpoint{.address = *std::move(found)};
    order_.on_failure(sentinel);
    const bool first = tried == 0;
    // A configuration error is more useful than a transient one.
    if (first || found.error().code == ErrorCode::Misconfigured) {
      why = {found.error().code, "sentinel " + to_string(sentinel) + ": " + found.error().detail};
    }
  }
  if (why.code != ErrorCode::Misconfigured) why.code = ErrorCode::Unavailable;
  co_return why;
}

asio::awaitable<Result<HostPort>> SentinelLocator::ask(HostPort sentinel) {
  auto connection = std::make_shared<Connection>(executor_, *settings_->tls);
  asking_ = connection;
  const std::string& name = settings_->options.url.master_name;
  std::string command = resp::command({"SENTINEL", "get-master-addr-by-name", name});
  const Result<void> handshaken =
      co_await open(connection, std::move(sentinel), std::move(command));
  if (!handshaken) co_return handshaken.error();
  Result<resp::Value> reply = co_await connection->read();
  connection->close("done");
  if (!reply) co_return reply.error();
  co_return read_master_address(*reply, name);
}

asio::awaitable<Result<void>> SentinelLocator::open(std::shared_ptr<Connection> connection,
                                                    HostPort sentinel, std::string command) {
  const Options& options = settings_->options;
  connection->close_after(options.connect_timeout);
  Endpoint endpoint{.address = std::move(sentinel)};
  const Result<void> opened = co_await connection->open(std::move(endpoint));
  if (!opened) co_return opened;
  const bool has_own = !options.sentinel_password.empty();
  const Login login{.user = has_own ? options.sentinel_user : options.url.user,
                    .password = has_own ? options.sentinel_password : options.url.password};
  Handshake handshake(login, RoleCheck::None, {});
  const Result<void> accepted = co_await run_handshake(connection, std::move(handshake));
  // Sentinels often have no password even when their masters have one.
  if (!accepted && has_own) co_return accepted;
  co_return co_await connection->write(std::move(command));
}

asio::awaitable<void> SentinelLocator::run(std::shared_ptr<SentinelLocator> self) {
  while (!self->stopped_ && self->settings_->tls) {
    const HostPort sentinel = self->order_.front();
    static_cast<void>(co_await self->receive_switches(sentinel));  // on any error try the next one
    if (self->stopped_) break;
    self->order_.on_failure(sentinel);
    self->pause_timer_.expires_after(
        self->backoff_.next(static_cast<std::uint32_t>(self->random_())));
    static_cast<void>(co_await self->pause_timer_.async_wait(kIo));
  }
}

asio::awaitable<Error> SentinelLocator::receive_switches(HostPort sentinel) {
  auto connection = std::make_shared<Connection>(executor_, *settings_->tls);
  subscribed_ = connection;
  std::string command = resp::command({"SUBSCRIBE", "+switch-master"});
  const Result<void> handshaken =
      co_await open(connection, std::move(sentinel), std::move(command));
  if (!handshaken) co_return handshaken.error();
  while (true) {
    connection->close_after(kMaxSilence);
    const Result<resp::Value> message = co_await connection->read();
    if (!message) co_return message.error();
    if (message->is(resp::Value::Type::Error)) {
      co_return Error{ErrorCode::Misconfigured, message->text};
    }
    backoff_.reset();
    std::optional<HostPort> master =
        read_switch_master(*message, settings_->options.url.master_name);
    const std::function<void(HostPort)> on_switch = on_switch_;  // the handler may call stop()
    if (master && on_switch) on_switch(*std::move(master));
  }
}

}  // namespace penstock::redis
