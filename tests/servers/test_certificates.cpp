#include "servers/test_certificates.hpp"

#include "servers/process.hpp"

#include <utility>
#include <vector>

namespace penstock::servers {
namespace {

constexpr int kDays = 2;
constexpr int kYesterday = -1;

// An elliptic-curve key takes a millisecond, an RSA key up to a second.
std::vector<std::string> request_with_new_key() {
  return {"openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"};
}

}  // namespace

TestCertificates::TestCertificates() {
  const std::string loopback = "DNS:localhost,IP:127.0.0.1";
  make_authority("ca");
  make_authority("untrusted_ca");
  make("server", "ca", loopback, kDays);
  make("client", "ca", "DNS:client", kDays);
  make("expired", "ca", loopback, kYesterday);
  make("wrong_host", "ca", "DNS:other.example", kDays);
  make("untrusted", "untrusted_ca", loopback, kDays);
}

TestCertificates::Pair TestCertificates::pair(const std::string& name) const {
  return {directory_ / (name + ".pem"), directory_ / (name + ".key")};
}

void TestCertificates::make_authority(const std::string& name) const {
  const auto [certificate, key] = pair(name);
  std::vector<std::string> words = request_with_new_key();
  words.insert(words.end(), {"-x509", "-days", std::to_string(kDays), "-subj", "/CN=" + name,
                             "-keyout", key.string(), "-out", certificate.string()});
  run_program(words, directory_ / "openssl.log");
}

void TestCertificates::make(const std::string& name, const std::string& authority,
                            const std::string& names, int days) const {
  const auto [certificate, key] = pair(name);
  const auto [ca, ca_key] = pair(authority);
  const std::string request = (directory_ / (name + ".csr")).string();
  std::vector<std::string> words = request_with_new_key();
  words.insert(words.end(), {"-subj", "/CN=" + name, "-addext", "subjectAltName=" + names,
                             "-keyout", key.string(), "-out", request});
  run_program(words, directory_ / "openssl.log");
  run_program({"openssl", "x509", "-req", "-in", request, "-copy_extensions", "copy", "-CA",
               ca.string(), "-CAkey", ca_key.string(), "-CAcreateserial", "-days",
               std::to_string(days), "-out", certificate.string()},
              directory_ / "openssl.log");
}

}  // namespace penstock::servers
