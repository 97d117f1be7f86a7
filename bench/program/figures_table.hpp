#pragma once

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <optional>
#include <string>

namespace penstock::bench {

// Figures of Penstock beside those of the optional baseline.
template <class Figures>
class BenchTable {
 public:
  BenchTable(const Figures& ours, const std::optional<Figures>& theirs)
      : ours_(ours), theirs_(theirs) {}

  void head(const std::string& baseline) const {
    label("");
    std::cout << std::setw(14) << "penstock";
    if (theirs_) std::cout << std::setw(14) << baseline << std::setw(11) << "ratio";
    std::cout << '\n';
  }
  void row(const char* name, double Figures::*figure, double scale, int places) const {
    label(name);
    std::cout << std::fixed << std::setprecision(places) << std::setw(14) << ours_.*figure * scale;
    if (theirs_) {
      const double theirs = *theirs_.*figure;
      std::cout << std::setw(14) << theirs * scale << std::setprecision(2) << std::setw(9);
      // one key does not show in resident memory
      if (theirs > 0) std::cout << ours_.*figure / theirs << " x";
    }
    std::cout << '\n';
  }
  void row(const char* name, std::uint64_t Figures::*figure) const {
    label(name);
    std::cout << std::setw(14) << ours_.*figure;
    if (theirs_) std::cout << std::setw(14) << *theirs_.*figure;
    std::cout << '\n';
  }
  void row(const char* name, std::optional<std::uint64_t> Figures::*figure) const {
    label(name);
    cell(ours_.*figure);
    if (theirs_) cell(*theirs_.*figure);
    std::cout << '\n';
  }

 private:
  static void label(const char* name) {
    std::cout << "  " << std::left << std::setw(30) << name << std::right;
  }
  static void cell(const std::optional<std::uint64_t>& figure) {
    std::cout << std::setw(14) << (figure ? std::to_string(*figure) : "-");
  }

  const Figures& ours_;
  const std::optional<Figures>& theirs_;
};

}  // namespace penstock::bench
