#pragma once

#include "base/deadline.hpp"
#include "http/message.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace penstock::http {

// Responses that stay valid for half a second: several open pages cost what one does.
//
// Thread-safety: none.
class JsonCache {
 public:
  static constexpr std::chrono::milliseconds kLifetime{500};
  static constexpr std::size_t kMaxEntries = 64;
  static constexpr std::size_t kMaxTargetBytes = 1000;  // longer ones are not cached

  // Null when there is none, or it expired.
  [[nodiscard]] const Response* find(std::string_view target, base::Deadline now) const {
    const auto found = responses_.find(target);
    if (found == responses_.end() || found->second.until <= now) return nullptr;
    return &found->second.response;
  }
  void put(const std::string& target, const Response& response, base::Deadline now) {
    if (target.size() > kMaxTargetBytes) return;
    std::erase_if(responses_, [now](const auto& each) { return each.second.until <= now; });
    if (responses_.size() >= kMaxEntries) responses_.clear();
    responses_[target] = {.response = response, .until = now + kLifetime};
  }

 private:
  struct Entry {
    Response response{};
    base::Deadline until{};
  };
  std::map<std::string, Entry, std::less<>> responses_;
};

}  // namespace penstock::http
