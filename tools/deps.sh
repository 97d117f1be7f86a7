#!/usr/bin/env bash
# deps.sh [build] [package] [test]: installs the missing packages of these groups, of all groups by default.
# Prints nothing if none is missing. PENSTOCK_SKIP_DEPS=1 skips the check.
set -euo pipefail

build_packages=(
  g++                 # the compiler, GCC 12 or later, with its sanitizers
  cmake               # 3.25 or later
  ninja-build         # what the presets build with
  make                # the short commands of the Makefile
  libboost1.81-dev    # Asio, headers only
  libhiredis-dev      # reads the replies of Redis
  libssl-dev          # TLS to Redis
  libcli11-dev        # command line of the program
  nlohmann-json3-dev  # --json output of the program, bodies of the HTTP API
  libyaml-cpp-dev     # configurations
  libre2-dev          # regular expressions of rules
  libspdlog-dev       # logs
  prometheus-cpp-dev  # the text of /metrics
  libnghttp2-dev      # HTTP/2: gRPC, and the gateway
  libprotobuf-dev     # messages of gRPC
  protobuf-compiler   # their code
  zlib1g-dev          # messages of gRPC that clients compress
)
package_packages=(
  dpkg-dev  # make package: which libraries the program depends on
  file      # the same
)
test_packages=(
  libgtest-dev       # GoogleTest
  librapidcheck-dev  # property tests
  libbenchmark-dev   # Google Benchmark: bench/micro
  redis-server       # the real one, for the tests
  openssl            # certificates for the tests
  python3            # tools/check_*.py
  pkg-config         # the test of the installed package
  clang              # the `tidy` preset: thread safety analysis
  libclang-rt-14-dev # make fuzz: libFuzzer and the sanitizers of clang
  clang-tidy         # lint
  clang-format       # lint and make format
  gcovr              # make coverage
  nginx-light        # in front of the daemon in tests/e2e; the baseline of bench/http_compare.sh
  haproxy            # the same, by a Lua script
  caddy              # the same, by forward_auth
  prometheus         # scrapes the daemon in tests/e2e, and checks the alerts
  wrk                # load for bench/http_compare.sh
  nghttp2-client     # h2load and nghttp: HTTP/2 clients for tests and bench/
  libgrpc++-dev      # a client for the tests, and what bench/ compares with
  protobuf-compiler-grpc # code for both
  python3-grpcio     # the same in Python
  python3-protobuf   # its messages
  python3-redis      # a client of the Redis protocol
  python3-yaml       # reads the manifests of examples/kubernetes and the alerts of examples/prometheus
  curl               # the commands that the documents show
  chromium           # a real browser in front of the gateway
  nodejs             # clients for gRPC, Redis and HTTP/2 in JavaScript, WebSockets
  npm                # brings their packages
)
# These may be installed without a package: only a missing command counts.
declare -A commands_of=([nodejs]=node [npm]=npm)

if [ "${PENSTOCK_SKIP_DEPS:-0}" = 1 ]; then exit 0; fi

wanted=()
if [ $# -eq 0 ]; then set -- build package test; fi
for group in "$@"; do
  case $group in
    build) wanted+=("${build_packages[@]}") ;;
    package) wanted+=("${package_packages[@]}") ;;
    test) wanted+=("${test_packages[@]}") ;;
    *)
      echo "deps.sh: unknown group '$group'; there are build, package and test" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  cat >&2 <<'TEXT'
This system has no apt. Please install, by the names they have here:
  to build: a C++20 compiler (GCC 12 or later), CMake 3.25 or later, Ninja, CLI11, nlohmann-json,
            Boost 1.81 (headers), hiredis, OpenSSL, yaml-cpp, RE2, spdlog, prometheus-cpp, zlib
  to test:  GoogleTest, RapidCheck, Google Benchmark, Redis 7, openssl, Python 3, pkg-config,
            clang, clang-tidy and clang-format 14, gcovr
  if there: nginx, HAProxy, Caddy, Prometheus, Chromium, Node.js with npm, wrk, curl; tests that need a missing one are skipped
and then run make again with PENSTOCK_SKIP_DEPS=1.
TEXT
  exit 1
fi

installed=$(dpkg-query -W -f ' ${db:Status-Status}:${Package} ' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  if command -v "${commands_of[$package]:-}" >/dev/null; then continue; fi
  case $installed in
    *" installed:$package "*) ;;
    *) missing+=("$package") ;;
  esac
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  echo "These packages are missing, and installing them needs root. Please run, as root:" >&2
  echo "  apt-get update && apt-get install ${missing[*]}" >&2
  exit 1
fi

# Tests start their own servers, so the packages must not start theirs. Debian runs this file before it
# starts a service; an existing file is kept.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
fi

echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends "${missing[@]}"
