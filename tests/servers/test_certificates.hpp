#pragma once

#include "servers/temp_directory.hpp"

#include <filesystem>
#include <string>

namespace penstock::servers {

// Certificates of a private authority, created by `openssl` and removed with the object. All files
// are PEM. Server certificates are for 127.0.0.1 and localhost unless noted.
class TestCertificates {
 public:
  struct Pair {
    std::filesystem::path certificate;
    std::filesystem::path key;
  };

  TestCertificates();

  [[nodiscard]] std::filesystem::path ca() const { return directory_ / "ca.pem"; }
  [[nodiscard]] Pair server() const { return pair("server"); }
  [[nodiscard]] Pair client() const { return pair("client"); }
  // Server certificates that a client must reject.
  [[nodiscard]] Pair expired() const { return pair("expired"); }        // yesterday
  [[nodiscard]] Pair wrong_host() const { return pair("wrong_host"); }  // other.example
  [[nodiscard]] Pair untrusted() const { return pair("untrusted"); }    // signed by untrusted_ca()
  [[nodiscard]] std::filesystem::path untrusted_ca() const {
    return directory_ / "untrusted_ca.pem";
  }

 private:
  [[nodiscard]] Pair pair(const std::string& name) const;
  void make_authority(const std::string& name) const;
  void make(const std::string& name, const std::string& authority, const std::string& names,
            int days) const;

  TempDirectory directory_;
};

}  // namespace penstock::servers
