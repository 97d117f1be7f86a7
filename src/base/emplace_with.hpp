#pragma once

#include <type_traits>
#include <utility>

namespace penstock::base {

// Constructs an element in place, without a temporary that must be moved:
//
//     list.emplace_back(EmplaceWith([&] { return Element{.name = name, .size = 3}; }));
template <class Make>
class EmplaceWith {
 public:
  explicit EmplaceWith(Make make) : make_(std::move(make)) {}

  // NOLINTNEXTLINE(google-explicit-constructor): the list converts it to what it holds
  operator std::invoke_result_t<const Make&>() const { return make_(); }

 private:
  Make make_;
};

}  // namespace penstock::base
