#!/usr/bin/env bash
# run_tidy.sh [--quick] BUILD_DIR [FILE_PATTERN]: clang-tidy over all shipped code, as compiled in
# BUILD_DIR; tests are excluded to save time. In a unity build it reads the combined sources, which takes
# a third of the time: headers are parsed once per folder. --quick covers base, core and store only; the
# others spend most of the time in headers of libraries, and `make lint` covers them. Exit status 77 if
# clang-tidy is not installed.
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

# run-clang-tidy searches for the pattern in the absolute path of each file.
folders='(src|apps|bench)'
if [ "$quick" = yes ]; then folders='src/(base|core|store)'; fi
arguments=()
if grep -q /Unity/ "$build_dir/compile_commands.json"; then
  pattern="/$folders/(?!.*_test(_headers)?\\.dir/).*/Unity/"
  arguments+=(-checks=-bugprone-suspicious-include)  # sources that include sources
else
  pattern="^$PWD/$folders/(?!.*_test\\.cpp\$)"
fi
output=$(mktemp)
trap 'rm -f "$output"' EXIT

status=0
"$runner" -clang-tidy-binary "$tidy" -p "$build_dir" -quiet -j "${JOBS:-$(nproc)}" "${arguments[@]}" \
  -extra-arg=-Wthread-safety -extra-arg=-Wreserved-identifier \
  -extra-arg=-Wno-unknown-warning-option "${2:-$pattern}" >"$output" 2>&1 || status=$?
# Without colours, the command lines and the counts of what was suppressed in system headers.
sed 's/\x1b\[[0-9;]*m//g' "$output" |
  grep -vE '^(clang-tidy|/[^ ]*clang-tidy|[0-9]+ warnings? |Suppressed |Use -header-filter)|^$' ||
  true
exit "$status"
