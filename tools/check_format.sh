#!/usr/bin/env bash
# Checks that every C++ file is formatted by .clang-format. `check_format.sh --fix` formats them.
# Exit status 77 when clang-format is not installed: ctest shows the check as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# Prefers the version of Debian 12: other versions format differently.
format=$(command -v clang-format-14 || command -v clang-format) || {
  echo "clang-format is not installed; run: make deps" >&2
  exit 77
}
files() { find include src apps bench examples tests -name '*.[ch]pp' -print0; }

if [ "${1:-}" = --fix ]; then
  files | xargs -0 "$format" --style=file -i
  exit
fi
if ! findings=$(files | xargs -0 "$format" --style=file --dry-run -Werror 2>&1); then
  sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/not formatted: \1/p' <<<"$findings" | sort | uniq -c
  echo "To format: make format" >&2
  exit 1
fi
