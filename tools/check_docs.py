#!/usr/bin/env python3
"""Checks documents against the code. Usage: check_docs.py [ROOT]

Code in README.md and docs/ is cut from files that are compiled. In the document, above the block:

    <!-- snippet: examples/quick_start.cpp#ask -->

and in that file, around the lines:

    // [ask]
    // [/ask]

A C++ block that cannot be compiled says so: <!-- not compiled: the reason -->. Also, relative
links lead to files that exist, and the README stays short enough to be read.
"""

import re
import sys
import textwrap
from pathlib import Path

from source_tree import ROOT, report

MAX_README_LINES = 150

_SNIPPET = re.compile(r"^<!-- snippet: (?P<path>[^#\s]+)#(?P<name>[\w-]+) -->$")
_NOT_COMPILED = re.compile(r"^<!-- not compiled: \S.* -->$")
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>\w*)")
_LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")


def documents(root):
    root = Path(root)
    files = list(root.glob("*.md")) + list((root / "docs").rglob("*.md"))
    return sorted(files)


def read_snippet(root, path, name):
    """The lines between // [name] and // [/name], dedented; an error text otherwise."""
    file = Path(root) / path
    if not file.is_file():
        return None, f"{path} does not exist"
    lines = file.read_text(encoding="utf-8").split("\n")
    marks = [line.strip() for line in lines]
    for comment in ("//", "#"):
        begin, end = f"{comment} [{name}]", f"{comment} [/{name}]"
        if begin in marks and end in marks:
            body = lines[marks.index(begin) + 1 : marks.index(end)]
            return textwrap.dedent("\n".join(body)).strip("\n"), None
    return None, f"{path} has no lines between // [{name}] and // [/{name}]"


def blocks(lines):
    """(line number, language, comment line above, body) of each fenced block."""
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        above = number - 1
        while above >= 0 and not lines[above].strip():
            above -= 1
        comment = lines[above].strip() if above >= 0 else ""
        end = number + 1
        while end < len(lines) and lines[end].strip() != opening["ticks"]:
            end += 1
        yield number + 1, opening["language"], comment, "\n".join(lines[number + 1 : end])
        number = end + 1


def problems_of_blocks(root, shown, lines):
    for number, language, comment, body in blocks(lines):
        snippet = _SNIPPET.match(comment)
        if snippet is None:
            if language in ("cpp", "c++") and not _NOT_COMPILED.match(comment):
                yield f"{shown}:{number}: C++ without <!-- snippet: path#name --> above it"
            continue
        wanted, missing = read_snippet(root, snippet["path"], snippet["name"])
        if missing is not None:
            yield f"{shown}:{number}: {missing}"
        elif textwrap.dedent(body).strip("\n") != wanted:
            source = f"{snippet['path']}#{snippet['name']}"
            yield f"{shown}:{number}: differs from {source}, which says:\n{wanted}"


def problems_of_links(root, shown, document, text):
    prose = re.sub(r"^ *```.*?^ *```", lambda m: "\n" * m.group().count("\n"), text,
                   flags=re.DOTALL | re.MULTILINE)
    for match in _LINK.finditer(prose):
        target = match["target"].split("#")[0]
        if not target or re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        base = Path(root) if target.startswith("/") else document.parent
        if not (base / target.lstrip("/")).exists():
            line = prose.count("\n", 0, match.start()) + 1
            yield f"{shown}:{line}: link to {target}, which does not exist"


def check(root=ROOT):
    problems = []
    for document in documents(root):
        shown = document.relative_to(root).as_posix()
        text = document.read_text(encoding="utf-8")
        lines = text.split("\n")
        problems.extend(problems_of_blocks(root, shown, lines))
        problems.extend(problems_of_links(root, shown, document, text))
        if shown == "README.md" and text.count("\n") > MAX_README_LINES:
            problems.append(f"{shown}: {text.count(chr(10))} lines; at most {MAX_README_LINES}")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(*sys.argv[1:])))
