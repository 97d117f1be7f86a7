#!/usr/bin/env python3
"""Every *_test.cpp is compiled by some target. Usage: check_tests_built.py BUILD_DIR [ROOT]

A test that is in no target never fails.
"""

import json
import re
import sys
from pathlib import Path

from source_tree import ROOT, cpp_files, report

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def check(build_dir, root=ROOT):
    database = Path(build_dir) / "compile_commands.json"
    if not database.exists():
        return [f"{database} is missing; configure first: cmake --preset release"]
    entries = json.loads(database.read_text(encoding="utf-8"))
    built = set()
    for entry in entries:
        compiled = (Path(entry["directory"]) / entry["file"]).resolve()
        built.add(compiled)
        if "/Unity/" in str(compiled):  # several sources compiled as one
            text = compiled.read_text(encoding="utf-8")
            built.update(Path(name).resolve() for name in _INCLUDE.findall(text))
    problems = []
    for path in cpp_files(root):
        if path.endswith("_test.cpp") and (Path(root) / path).resolve() not in built:
            problems.append(f"{path}: in no target, so it never runs")
    return problems


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(report(check(*sys.argv[1:])))
