#!/usr/bin/env bash
# run_tidy.sh [--quick] BUILD_DIR [FILE_PATTERN]: clang-tidy over what we ship, as compiled in
# BUILD_DIR; tests are left out for time. With --quick only what decides: base, core and store; most of
# the time of the others is spent on the code of libraries, and `make lint` has them. Exit status 77
# when clang-tidy is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=no
if [ "${1:-}" = --quick ]; then
  quick=yes
  shift
fi
build_dir=${1:?usage: run_tidy.sh BUILD_DIR [FILE_PATTERN]}
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) &&
  runner=$(command -v run-clang-tidy-14 || command -v run-clang-tidy) || {
  echo "clang-tidy is not installed; run: make deps" >&2
  exit 77
}

# run-clang-tidy searches for this in the absolute path of each file.
folders='(src|apps|bench)'
if [ "$quick" = yes ]; then folders='src/(base|core|store)'; fi
pattern=${2:-"^$PWD/$folders/(?!.*_test\\.cpp\$)"}
# Sources are compiled several at a time there; clang-tidy looks at them one by one.
database=$build_dir/one_by_one
cmake -S . -B "$database" -G Ninja -DPENSTOCK_DEVELOPER=ON -DCMAKE_UNITY_BUILD=OFF >/dev/null
output=$(mktemp)
trap 'rm -f "$output"' EXIT

status=0
"$runner" -clang-tidy-binary "$tidy" -p "$database" -quiet -j "${JOBS:-$(nproc)}" \
  -extra-arg=-Wthread-safety -extra-arg=-Wreserved-identifier "$pattern" >"$output" 2>&1 || status=$?
# Without colours, the command lines and the counts of what was suppressed in system headers.
sed 's/\x1b\[[0-9;]*m//g' "$output" |
  grep -vE '^(clang-tidy|/[^ ]*clang-tidy|[0-9]+ warnings? |Suppressed |Use -header-filter)|^$' ||
  true
exit "$status"
