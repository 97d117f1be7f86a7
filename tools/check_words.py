#!/usr/bin/env python3
"""Words that comments, messages and documents do not use. Usage: check_words.py [ROOT]

Each entry of WORDS names the common term to use instead. The list has only words that are always
wrong in this project; ALLOWED has the exceptions. The check reads comments and string literals of
C++, comments of other languages (also docstrings of Python), and the whole text of documents and of the
operator's page.
"""

import io
import re
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

from source_tree import ROOT, comments_and_literals, report

FOLDERS = (
    "include", "src", "apps", "bench", "examples", "tests", "tools", "docs", "packaging", "cmake", "proto",
    "web",
)

# Patterns are searched without regard to case; a space stands for any white space, so that phrases
# are found across lines.
WORDS = [
    (r"\bwho(?:so)?ever\b", "the client, the caller, any process that"),
    (r"\b(?:some|no|any|every)body(?:'s)?\b", "a client, no caller, any process, all clients"),
    (r"\bthose who\b|\bwho asks\b|\bof whom\b", "clients that, callers that"),
    (r"\bdoors?\b", "listener"),
    (r"\bcolleagues?\b|\bsurroundings\b", "dependencies, context"),
    (r"\bseats?\b", "permit"),
    (r"\breception\b", "acceptor"),
    (r"\bstrangers?\b", "unauthenticated client, unknown peer"),
    (r"\bmend(?:s|ed|ing)?\b", "fix"),
    (r"\bnonsense\b|\bwrong input\b", "malformed, invalid"),
    (r"\bmakes? (?:no )?sense\b", "is valid, is invalid; or state the reason"),
    (r"\bpatience\b", "timeout, deadline"),
    (r"\bunder way\b", "in flight, running"),
    (r"\b(?:left|leaves?|leaving) alone\b", "unchanged, skipped; the circuit breaker is open"),
    (r"\b(?:goes|go|went|gone) to rest\b", "stops, the circuit breaker opens"),
    (r"\brefus(?:e|es|ed|ing|al|als)\b(?!_)", "denied (limits), rejected (connections, bad input)"),
    (r"\btold no\b", "denied"),
    (r"\b(?:is|are|was|were|be|been|being) told\b", "receives, is notified, reports"),
    (r"\b(?:hear|hears|heard|unheard|hearing)\b", "receives, observes, is notified"),
    (r"\b(?:give|gives|gave|given|giving) back\b", "refund, release, return"),
    (r"\b(?:stand|stands|stood|standing) in for\b", "local fallback; replaces, decides in place of"),
    (r"\b(?:store|redis|server|node|upstream) (?:is|was|are|were|has|had|be|being) gone\b",
     "unavailable, unreachable, down"),
    (r"\b(?:is|are|be|not|none|one) well\b(?! [a-z-]*(?:formed|known|tested|below|above|within))", "healthy"),
    (r"\bjourneys?\b", "cross-slot check"),
    (r"\bso many\b|\bhow many are at it\b|\bso long\b(?! (?:as|that)\b)", "a limit, n units, this time"),
    (r"\bsuch as ha(?:s|ve)\b", "those with"),
    (r"\bbesides\b", "also, in addition; or start a sentence"),
    (r"\bhouse\b", "this project, this code base"),
    (r"\bgoodbyes?\b", "GOAWAY, the closing message"),
    (r"\bfor ever\b", "forever"),
    (r"\bin vain\b", "without effect"),
    (r"\blook(?:s|ed)? away\b|\bobey(?:s|ed|ing)?\b", "ignore, follow"),
    (r"\bforgiv(?:e|es|en|ing)\b", "drop, discard, lose (usage)"),
    (r"\bin a hurry\b", "with a short deadline"),
    (r"\bembedded store\b", "memory store"),
]


@dataclass
class Allowed:
    """Text in which WORDS are not searched."""

    path: str  # a file, or a folder that ends with a slash; empty: all
    phrase: str  # pattern; empty: the whole file
    reason: str

    def covers(self, path):
        return path == self.path or (self.path.endswith("/") and path.startswith(self.path)) or not self.path


ALLOWED = [
    Allowed("tools/check_words.py", "", "lists the words"),
    Allowed("", r"connection refused", "the text of ECONNREFUSED, as clients print it"),
    Allowed("src/redis/client_redis_test.cpp", r'"refused"', "part of the text of ECONNREFUSED"),
    Allowed("tests/vectors/examples.cpp", r"refused one microsecond|for ever", "titles of golden vectors"),
    Allowed("CHANGELOG.md", r"`[^`\n]*`(?:, `[^`\n]*`)* →", "old names, which no longer exist"),
]


def python_text(text):
    """The comments and docstrings, line numbers kept."""
    lines = [""] * (text.count("\n") + 2)
    starts = True  # of a statement, where a string is a docstring
    layout = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.ENCODING)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and starts):
                for offset, line in enumerate(token.string.split("\n")):
                    lines[token.start[0] - 1 + offset] += line
            if token.type != tokenize.COMMENT:
                starts = token.type in layout
    except (tokenize.TokenError, IndentationError):
        return text
    return "\n".join(lines)


def line_comments(mark):
    pattern = re.compile(rf"(?:^|\s){re.escape(mark)}.*")

    def text_of(text):
        found = (pattern.search(line) for line in text.split("\n"))
        return "\n".join(match.group() if match else "" for match in found)

    return text_of


def whole(text):
    return text


VIEWS = {
    ".cpp": comments_and_literals,
    ".hpp": comments_and_literals,
    ".in": whole,
    ".proto": line_comments("//"),
    ".mjs": line_comments("//"),
    ".js": whole,
    ".html": whole,
    ".go": line_comments("//"),
    ".lua": line_comments("--"),
    ".py": python_text,
    ".sh": line_comments("#"),
    ".cmake": line_comments("#"),
    ".yaml": line_comments("#"),
    ".conf": line_comments("#"),
    ".cfg": line_comments("#"),
    ".service": line_comments("#"),
    ".md": whole,
    ".json": whole,
    ".1": whole,
}
NAMES = {
    "CMakeLists.txt": line_comments("#"),
    "Caddyfile": line_comments("#"),
    "Containerfile": line_comments("#"),
    "Makefile": line_comments("#"),
    "changelog": whole,
    "postinst": line_comments("#"),
    "postrm": line_comments("#"),
    "prerm": line_comments("#"),
}
SKIPPED = ("node_modules", "__pycache__")

_PATTERNS = [
    (re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), instead) for pattern, instead in WORDS
]
_MARKS = re.compile(r"^[ \t]*(?://+|#+|--+|\*+)|\"[ \t]*\n[ \t]*\"", re.MULTILINE)
_NAME = re.compile(r"`[\w:.()]+`")


def view_of(path):
    """What to search in this file; None if nothing."""
    return NAMES.get(Path(path).name) or VIEWS.get(Path(path).suffix)


def files(root):
    root = Path(root)
    found = [path for path in root.glob("*") if path.is_file()]
    for folder in FOLDERS:
        found.extend(path for path in (root / folder).rglob("*") if path.is_file())
    for path in sorted(found):
        if view_of(path) and not any(part in SKIPPED for part in path.relative_to(root).parts):
            yield path.relative_to(root).as_posix()


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def searched_text(path, text):
    """The text without comment marks and, in code, without `names`; line numbers kept."""
    view = _MARKS.sub(blank, view_of(path)(text))
    if view_of(path) is not whole:
        view = _NAME.sub(blank, view)
    for entry in ALLOWED:
        if entry.covers(path):
            if not entry.phrase:
                return ""
            view = re.sub(entry.phrase.replace(" ", r"\s+"), blank, view, flags=re.IGNORECASE)
    return view


def problems_of_file(path, text):
    view = searched_text(path, text)
    found = []
    for pattern, instead in _PATTERNS:
        for match in pattern.finditer(view):
            line = view.count("\n", 0, match.start()) + 1
            word = " ".join(match.group().split())
            found.append((line, f"{path}:{line}: {word}; say {instead}"))
    return [problem for _, problem in sorted(found)]


def check(root=ROOT):
    problems = []
    for path in files(root):
        text = (Path(root) / path).read_text(encoding="utf-8")
        problems.extend(problems_of_file(path, text))
    return problems


def problems_of_exceptions(root=ROOT):
    """An exception without its file would hide words in the next file of that name."""
    for entry in ALLOWED:
        if entry.path and not (Path(root) / entry.path).exists():
            yield f"tools/check_words.py: {entry.path} is allowed ({entry.reason}): no such file"


if __name__ == "__main__":
    tree = Path(*sys.argv[1:]) if len(sys.argv) > 1 else ROOT
    sys.exit(report(check(tree) + list(problems_of_exceptions(tree))))
