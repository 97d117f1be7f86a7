#include "redis/client.hpp"

#include "redis/client_core.hpp"

#include <utility>

namespace penstock::redis {

Client::Client(boost::asio::any_io_executor executor, Options options,
               std::vector<const Script*> scripts)
    : core_(std::make_shared<Core>(std::move(executor), std::move(options), std::move(scripts))) {}

Client::~Client() { core_->stop(); }

void Client::start() { core_->start(); }

void Client::send(Command command, std::unique_ptr<Call> call) {
  core_->send(std::move(command), std::move(call));
}

Result<void> Client::renew_credentials(const Options& options) {
  return core_->renew_credentials(options);
}

bool Client::is_cluster() const noexcept { return core_->is_cluster(); }

std::vector<NodeId> Client::masters() const { return core_->masters(); }

std::string Client::address_of(NodeId node) const { return core_->address_of(node); }

ClientHealth Client::health() const { return core_->health(); }

ClientStats Client::stats() const noexcept { return core_->stats(); }

std::shared_ptr<FailFast> Client::fail_fast() const { return core_->fail_fast(); }

}  // namespace penstock::redis
