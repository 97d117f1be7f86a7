"""Shared by the checks: our files, and C++ text without comments."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "apps", "bench", "examples", "tests")

_TOKEN = re.compile(
    r"""
    //[^\n]*                                      # comment to the end of the line
  | /\*.*?\*/                                     # comment
  | R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"  # raw string
  | "(?:\\.|[^"\\\n])*"                           # string
  | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'           # character; not the ' of 1'000
    """,
    re.DOTALL | re.VERBOSE,
)


def cpp_files(root=ROOT):
    """Paths of all C++ files below root, relative to it and with forward slashes, sorted."""
    found = []
    for folder in FOLDERS:
        for path in (Path(root) / folder).rglob("*"):
            if path.suffix in (".cpp", ".hpp"):
                found.append(path.relative_to(root).as_posix())
    return sorted(found)


def is_test(path):
    """Test code: *_test.cpp beside the sources, and the folder tests/."""
    return path.endswith("_test.cpp") or path.startswith("tests/")


def code_only(text):
    """The text with comments and literals blanked, line numbers kept."""

    def blank(match):
        token = match.group()
        filler = "\n" * token.count("\n")
        return filler if token.startswith("/") else '""' + filler

    return _TOKEN.sub(blank, text)


def comments_only(text):
    """The comments of the text, line numbers kept."""
    kept = []
    position = 0
    for match in _TOKEN.finditer(text):
        kept.append("\n" * text.count("\n", position, match.start()))
        token = match.group()
        kept.append(token if token.startswith("/") else "\n" * token.count("\n"))
        position = match.end()
    return "".join(kept)


def comments_and_literals(text):
    """The comments and literals of the text, line numbers kept."""
    kept = []
    position = 0
    for match in _TOKEN.finditer(text):
        between = text[position : match.start()]
        kept.append(" ; " if between.strip() else "")  # not one literal after the other
        kept.append("\n" * between.count("\n"))
        kept.append(match.group())
        position = match.end()
    return "".join(kept)


def report(problems):
    """Prints the problems and returns the exit status of a check."""
    for problem in problems:
        print(problem)
    return 1 if problems else 0
