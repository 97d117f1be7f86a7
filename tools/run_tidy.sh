#!/usr/bin/env bash
# run_tidy.sh [--quick] BUILD_DIR [FILE_PATTERN]: clang-tidy over what we ship, as compiled in
# BUILD_DIR; tests are left out for time. With --quick so are files that include Asio: most of their
# time is spent on Boost's code, and `make lint` has them. Exit status 77 when clang-tidy is not
# installed.
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
pattern=${2:-"^$PWD/(src|apps|bench)/(?!.*_test\\.cpp\$)"}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# FILE... that include Asio, as the last build saw them; none when there was no build.
files_with_asio() {
  ninja -C "$build_dir" -t deps 2>/dev/null | awk '
    /^[^ ]/ { source = "" }
    /^ / && source == "" { source = $1 }
    /boost\/asio\// && source != "" { print source }' | sort -u
}
run() { # PATTERN
  "$runner" -clang-tidy-binary "$tidy" -p "$build_dir" -quiet -j "${JOBS:-$(nproc)}" \
    -extra-arg=-Wthread-safety -extra-arg=-Wreserved-identifier "$1" >"$output" 2>&1
}

status=0
if [ "$quick" = yes ]; then
  heavy=$(files_with_asio | grep -E "^$PWD/(src|apps|bench)/" | grep -v '_test\.cpp$' |
    sed 's/\./\\./g' | paste -sd'|' || true)
fi
if [ -n "${heavy:-}" ]; then
  run "^(?!($heavy)\$)${pattern#^}" || status=$?
else
  run "$pattern" || status=$?
fi
# Without colours, the command lines and the counts of what was suppressed in system headers.
sed 's/\x1b\[[0-9;]*m//g' "$output" |
  grep -vE '^(clang-tidy|/[^ ]*clang-tidy|[0-9]+ warnings? |Suppressed |Use -header-filter)|^$' ||
  true
exit "$status"
