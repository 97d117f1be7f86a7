#pragma once

#include "base/deadline.hpp"
#include "base/join.hpp"
#include "service/service_deps.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace penstock::service {

// Charges units that were already used to every limit, as far as they fit. Reports how many units
// of cost did not fit the fullest limit.
class ExtraCharge final : public std::enable_shared_from_this<ExtraCharge> {
 public:
  using Done = std::function<void(std::uint64_t uncharged)>;

  ExtraCharge(const ServiceDeps& deps, std::vector<store::HeldUnits> held, std::uint64_t units,
              base::Deadline deadline, Done done);

  void start();

 private:
  // Other requests charge the same limits in between; then the remaining units are read again.
  static constexpr int kAttempts = 4;

  void charge(std::size_t index, std::uint64_t wanted, std::uint64_t units, int attempt);
  void finish_one(std::size_t index, std::uint64_t missing);

  ServiceDeps deps_;
  std::vector<store::HeldUnits> held_;
  std::uint64_t units_;
  base::Deadline deadline_;
  Done done_;
  std::uint64_t uncharged_ = 0;
  base::Join charges_;
};

}  // namespace penstock::service
