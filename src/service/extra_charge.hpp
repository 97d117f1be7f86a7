#pragma once

#include "base/deadline.hpp"
#include "service/request_flow.hpp"
#include "store/reservation_book.hpp"

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

  ExtraCharge(const Colleagues& colleagues, std::vector<store::HeldCount> held, std::uint64_t units,
              base::Deadline deadline, Done done);

  void start();

 private:
  // Others take from the same counts meanwhile; then what is left is looked at again.
  static constexpr int kAttempts = 4;

  void charge(std::size_t place, std::uint64_t wanted, std::uint64_t units, int attempt);
  void close_one(std::size_t place, std::uint64_t missing);

  Colleagues colleagues_;
  std::vector<store::HeldCount> held_;
  std::uint64_t units_;
  base::Deadline deadline_;
  Done done_;
  std::size_t open_ = 0;
  std::uint64_t uncharged_ = 0;
};

}  // namespace penstock::service
