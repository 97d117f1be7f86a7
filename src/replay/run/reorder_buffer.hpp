#pragma once

#include "penstock/time.hpp"
#include "rules/model/request.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace penstock::replay {

// Where a request stands in the logs; requests are decided in this order.
struct RequestOrder {
  Instant time{};
  std::uint32_t input = 0;
  std::uint64_t line = 0;

  friend auto operator<=>(const RequestOrder&, const RequestOrder&) = default;
};

// Requests that wait for earlier ones, sorted by time. They are kept by the second, and a second is
// sorted when it is taken: in a log that is in order, nothing is ever compared twice.
//
// Thread-safety: none.
class ReorderBuffer {
 public:
  // Copies the attributes.
  void push(const RequestOrder& order, std::span<const rules::Attribute> attributes);

  // The requests of the earliest second, in order, if all of them are before `until`.
  class Batch {
   public:
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] const RequestOrder& order(std::size_t index) const {
      return entries_[index].order;
    }
    // Appends the attributes; they are valid as long as the batch.
    void attributes(std::size_t index, std::vector<rules::Attribute>& into) const;

   private:
    friend class ReorderBuffer;
    struct Entry {
      RequestOrder order;
      std::size_t begin = 0;  // in bytes_
      std::uint32_t count = 0;
    };
    std::vector<Entry> entries_;
    std::string bytes_;
    bool is_sorted_ = true;
  };
  [[nodiscard]] bool take(Instant until, Batch& batch);

  // In all waiting requests.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool is_empty() const noexcept { return seconds_.empty(); }

 private:
  using Seconds = std::chrono::sys_time<std::chrono::seconds>;

  std::map<Seconds, Batch> seconds_;
  Batch* last_ = nullptr;  // where the last request was put, of last_second_
  Seconds last_second_{};
  std::size_t bytes_ = 0;
};

}  // namespace penstock::replay
