#!/usr/bin/env python3
"""Checks documents against the code. Usage: check_docs.py [ROOT]

Code in README.md and docs/ is cut from files that are compiled. In the document, above the block:

    <!-- snippet: examples/quick_start.cpp#ask -->

and in that file, around the lines:

    // [ask]
    // [/ask]

A C++ block that cannot be compiled says so: <!-- not compiled: the reason -->. Also:

- relative links lead to files and headings that exist;
- `make TARGET`, `penstock COMMAND` and the paths of files in `code` exist;
- every section with figures in docs/explanation/performance.md names the command that prints them;
- the README stays short enough to be read.
"""

import re
import sys
import textwrap
from pathlib import Path

from source_tree import ROOT, report

MAX_README_LINES = 120
COMMANDS = "docs/reference/cli.md"  # has a heading for every command of the program
FIGURES = "docs/explanation/performance.md"

_SNIPPET = re.compile(r"^<!-- snippet: (?P<path>[^#\s]+)#(?P<name>[\w-]+) -->$")
_NOT_COMPILED = re.compile(r"^<!-- not compiled: \S.* -->$")
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>\w*)")
_HEADING = re.compile(r"^#+ +(?P<text>.+?)\s*$")
_CODE = re.compile(r"`(?P<code>[^`\n]+)`")
_MAKE = re.compile(r"(?:^|[;&] *|time )make (?P<target>[a-z]+)\b")
_PENSTOCK = re.compile(r"(?:^|[;&|] *)penstock (?P<command>[a-z]+)\b(?P<rest>[^|;&#]*)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_PATH = re.compile(r"(?<![\w/.-])(?:bench|tools|tests|src|apps|examples|packaging)/[\w./-]*\w\.\w+\b")
_TEST = re.compile(r"(?<![\w/.-])(?!foo_)\w+_test\.(?:cpp|py)\b")
_PRINTS_FIGURES = re.compile(r"`(?:time )?(?:bench/\w+\.sh|tools/bench\.sh|make |penstock bench |penstock_\w+)")
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


def without_blocks(text):
    """The text, with empty lines in place of fenced blocks."""
    return re.sub(r"^ *```.*?^ *```", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def anchors(text):
    """The names of headings, as GitHub makes them."""
    found = set()
    for line in without_blocks(text).split("\n"):
        heading = _HEADING.match(line)
        if heading is None:
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["text"]).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while (name if number == 0 else f"{name}-{number}") in found:
            number += 1
        found.add(name if number == 0 else f"{name}-{number}")
    return found


def problems_of_links(root, shown, document, text):
    prose = without_blocks(text)
    for match in _LINK.finditer(prose):
        target, _, anchor = match["target"].partition("#")
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        base = Path(root) if target.startswith("/") else document.parent
        file = base / target.lstrip("/") if target else document
        line = prose.count("\n", 0, match.start()) + 1
        if not file.exists():
            yield f"{shown}:{line}: link to {target}, which does not exist"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{shown}:{line}: link to #{anchor}, which is no heading of {target or shown}"


def make_targets(root):
    makefile = Path(root) / "Makefile"
    text = makefile.read_text(encoding="utf-8") if makefile.exists() else ""
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def commands(root):
    """The options of each command of the program."""
    page = Path(root) / COMMANDS
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    sections = re.split(r"^## penstock ([a-z]+)$", text, flags=re.MULTILINE)[1:]
    return {name: set(_OPTION.findall(body)) for name, body in zip(sections[::2], sections[1::2])}


def pieces_of_code(text):
    """(line number, code) of each `code` in prose, and of each line of commands."""
    for number, line in enumerate(without_blocks(text).split("\n"), 1):
        for match in _CODE.finditer(line):
            yield number, match["code"]
    lines = text.split("\n")
    for number, language, _, body in blocks(lines):
        if language == "sh":
            yield from ((number + offset, line) for offset, line in enumerate(body.split("\n"), 1))


def problems_of_commands(root, shown, text):
    targets, known = make_targets(root), commands(root)
    folders = [Path(root) / name for name in ("src", "tests", "bench", "apps")]
    tests = {path.name for folder in folders for path in folder.rglob("*_test.*")}
    for number, code in pieces_of_code(text):
        for match in _MAKE.finditer(code):
            if targets and match["target"] not in targets:
                yield f"{shown}:{number}: no target {match['target']} in the Makefile"
        for match in _PENSTOCK.finditer(code) if known else ():
            command = match["command"]
            if command not in known:
                yield f"{shown}:{number}: no command penstock {command} in {COMMANDS}"
                continue
            for option in sorted(set(_OPTION.findall(match["rest"])) - known[command]):
                yield f"{shown}:{number}: penstock {command} has no option {option}"
        for path in _PATH.findall(code):
            if not (Path(root) / path).exists():
                yield f"{shown}:{number}: {path} does not exist"
        for name in _TEST.findall(code):
            if name not in tests:
                yield f"{shown}:{number}: no test {name}"


def problems_of_figures(shown, text):
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        title = section.split("\n", 1)[0]
        has_figures = re.search(r"^\|.*\d", section, re.MULTILINE)
        if has_figures and "Appendix" not in title and not _PRINTS_FIGURES.search(section):
            yield f"{shown}: {title}: figures without the command that prints them"


def check(root=ROOT):
    problems = []
    for document in documents(root):
        shown = document.relative_to(root).as_posix()
        text = document.read_text(encoding="utf-8")
        lines = text.split("\n")
        problems.extend(problems_of_blocks(root, shown, lines))
        problems.extend(problems_of_links(root, shown, document, text))
        problems.extend(problems_of_commands(root, shown, text))
        if shown == FIGURES:
            problems.extend(problems_of_figures(shown, text))
        if shown == "README.md" and text.count("\n") > MAX_README_LINES:
            problems.append(f"{shown}: {text.count(chr(10))} lines; at most {MAX_README_LINES}")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(*sys.argv[1:])))
