#pragma once

#include "base/deadline.hpp"
#include "service/request_flow.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace penstock::service {

// Takes units that were used already from every count, as far as there are any, and says how many
// units of cost the fullest of them had no room for.
class ExtraCharge final : public std::enable_shared_from_this<ExtraCharge> {
 public:
  using Done = std::function<void(std::uint64_t uncharged)>;

  ExtraCharge(const ServiceDeps& deps, std::vector<store::HeldUnits> held, std::uint64_t units,
              base::Deadline deadline, Done done);

  void start();

 private:
  // Others take from the same counts meanwhile; then what is left is looked at again.
  static constexpr int kAttempts = 4;

  void charge(std::size_t index, std::uint64_t wanted, std::uint64_t units, int attempt);
  void finish_one(std::size_t index, std::uint64_t missing);

  ServiceDeps deps_;
  std::vector<store::HeldUnits> held_;
  std::uint64_t units_;
  base::Deadline deadline_;
  Done done_;
  std::size_t pending_ = 0;
  std::uint64_t uncharged_ = 0;
};

}  // namespace penstock::service
