// write_vectors <folder>: writes the vector files there.
#include "vectors/compose.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::cerr << "usage: write_vectors <folder>\n";
    return EXIT_FAILURE;
  }
  for (const penstock::Algorithm algorithm : penstock::vectors::kAlgorithms) {
    const auto path = std::filesystem::path(arguments[1]) / penstock::vectors::file_name(algorithm);
    std::ofstream file(path, std::ios::binary);
    file << penstock::vectors::compose(algorithm);
    if (!file.flush()) {
      std::cerr << "cannot write " << path << '\n';
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
