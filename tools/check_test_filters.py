#!/usr/bin/env python3
"""Checks that every --gtest_filter in the Makefile and the documents selects a test.

Usage: check_test_filters.py BUILD_DIRECTORY [ROOT]. A filter that selects nothing passes with
"0 tests", so a renamed suite would not be noticed. Ends with 77, skipped, when nothing is built.
"""

import re
import subprocess
import sys
from pathlib import Path

from check_docs import documents
from source_tree import ROOT, report

_FILTER = re.compile(r"(?P<program>penstock_\w+_test)\b[^\n`]*?--gtest_filter='(?P<filter>[^']+)'")


def selects_a_test(program, pattern):
    listed = subprocess.run(
        [program, "--gtest_list_tests", f"--gtest_filter={pattern}"],
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )
    return re.search(r"^  \S", listed.stdout, re.MULTILINE) is not None


def check(build, root=ROOT):
    problems = []
    for file in [Path(root) / "Makefile", *documents(root)]:
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        for match in _FILTER.finditer(text):
            shown = f"{file.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
            program = next(Path(build).rglob(match["program"]), None)
            if program is None:
                problems.append(f"{shown}: no program {match['program']}")
            elif not selects_a_test(program, match["filter"]):
                problems.append(f"{shown}: '{match['filter']}' selects no test of {match['program']}")
    return problems


def is_built(build):
    return next(Path(build).rglob("penstock_*_test"), None) is not None


if __name__ == "__main__":
    if not is_built(sys.argv[1]):
        print("skipped: no test program is built")
        sys.exit(77)
    sys.exit(report(check(*sys.argv[1:])))
