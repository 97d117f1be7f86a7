#!/usr/bin/env python3
"""Coding rules that a pattern can check. Usage: check_rules.py [ROOT]

Each rule has a scope and exceptions with reasons. An exception that ends with a slash is a folder.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from source_tree import ROOT, code_only, comments_only, cpp_files, is_test, report

EVERYWHERE = ("include/", "src/", "apps/", "bench/", "examples/", "tests/")
LIBRARY = ("include/", "src/")
MAX_LINES = 600


@dataclass
class Rule:
    name: str
    pattern: str
    instead: str  # how to fix it
    where: tuple = EVERYWHERE
    allowed: dict = field(default_factory=dict)  # path or folder -> reason
    tests: str = "too"  # "too", or "exempt" where the rule is about production code
    text: str = "code"  # "code" or "comments"

    def holds_for(self, path):
        if not path.startswith(self.where) or (self.tests == "exempt" and is_test(path)):
            return False
        return not any(
            path == entry or (entry.endswith("/") and path.startswith(entry))
            for entry in self.allowed
        )


RULES = [
    Rule(
        "clock",
        r"\b\w*_clock::now\b|\b\w*Clock::now\s*\(\s*\)(?!\s*const)|\b_*rdtscp?\b"
        r"|\b(?:clock_gettime|gettimeofday|timespec_get)\s*\("
        r"|(?<![\w.>:])(?:std::)?time\s*\(\s*(?:nullptr|NULL|0|&)",
        "take the time as a parameter, or use a penstock::Clock",
        allowed={
            "src/base/monotonic_time.cpp": "the only reader of the monotonic clock",
            "src/base/monotonic_time_test.cpp": "compares the above with the real clock",
            "src/base/system_clock.cpp": "the only reader of the wall clock",
            "bench/": "measures real time",
            "tests/grpc_client/": "deadlines of grpc++ are times of day",
            "src/audit/redis_access.cpp": "limits the rate of a scan over a shared server",
        },
    ),
    Rule(
        "sleep",
        r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>])sleep\s*\(",
        "do not sleep; advance a ManualClock instead",
        allowed={
            "src/audit/redis_access.cpp": "limits the rate of a scan over a shared server",
            "bench/exactness.cpp": "pauses between bursts",
            "tests/servers/wait.cpp": "polls real servers until they are ready",
        },
    ),
    Rule(
        "throw",
        r"\bthrow\b",
        "return a Result",
        where=("include/", "src/", "apps/", "bench/"),
        tests="exempt",
        allowed={
            "src/api/limiter.cpp": "a constructor cannot return an error for its options",
        },
    ),
    Rule(
        "detached",
        r"\bdetached\b|\.detach\s*\(",
        "its owner must wait for it and see its failure",
        allowed={"src/wire/resp/session_test.cpp": "Session::detach() is not that of a thread"},
    ),
    Rule(
        "regex",
        r"\bstd::(?:w?regex|regex_\w+|w?[cs]match)\b|#\s*include\s*<regex>",
        "std::regex recurses on input; parse by hand",
    ),
    Rule(
        "reinterpret_cast",
        r"\breinterpret_cast\b",
        "std::bit_cast or std::memcpy",
        allowed={
            "src/store/slot_codec.hpp": "a slot holds the address of a state that does not fit",
        },
    ),
    Rule(
        "print",
        r"\bstd::(?:cout|cerr|clog|print|println)\b"
        r"|#\s*include\s*<(?:iostream|cstdio|stdio\.h|print)>"
        r"|(?<![\w.>])(?:std::)?(?:f|v|vf)?printf\s*\(|(?<![\w.>])(?:std::)?f?puts\s*\(",
        "the library never prints",
        where=LIBRARY,
        tests="exempt",
    ),
    Rule(
        "floating point",
        r"\b(?:double|float)\b",
        "limits are counted in integers; see src/core/exact_span.hpp",
        where=("include/", "src/core/"),
        tests="exempt",
    ),
    Rule(
        "thread",
        r"\bstd::(?:jthread|thread|async)\b(?!::)|\bpthread_create\b",
        "the library starts no thread",
        where=LIBRARY,
        tests="exempt",
        allowed={
            "src/redis_store/blocking_store.cpp": "the event loop for callers without one",
            "src/daemon/": "starts its workers",
        },
    ),
    Rule(
        "todo",
        r"\bTODO\b(?!\(#\d+\))|\b(?:FIXME|XXX|HACK)\b",
        "write TODO(#123): with its issue",
        text="comments",
    ),
    Rule(
        "nolint",
        r"\bNOLINT(?:NEXTLINE|BEGIN|END)?\b(?!\([a-z])",
        "name the check that is silenced",
        text="comments",
    ),
]


def problems_of_file(path, text):
    views = {"code": code_only(text), "comments": comments_only(text)}
    for rule in RULES:
        if not rule.holds_for(path):
            continue
        view = views[rule.text]
        for match in re.finditer(rule.pattern, view):
            line = view.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {rule.name}: {match.group().strip()!r}; {rule.instead}"
    lines = text.count("\n")
    if lines > MAX_LINES:
        yield f"{path}: {lines} lines; the maximum is {MAX_LINES}"
    if path.endswith(".hpp") and not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield f"{path}: header without #pragma once"


def problems_of_tidy(text):
    """Every check that .clang-tidy disables has a reason there, in a comment."""
    for name in re.findall(r"^  -([a-z][\w.-]*),$", text, re.MULTILINE):
        if not re.search(rf"^# +{re.escape(name)}: \S", text, re.MULTILINE):
            yield f".clang-tidy: {name} is disabled without a reason"


def problems_of_exceptions(root):
    """An exception for a deleted file would apply to a new file of that name."""
    for rule in RULES:
        for path, reason in rule.allowed.items():
            if not (Path(root) / path).exists():
                yield f"tools/check_rules.py: {rule.name} excepts {path} ({reason}): no such file"


def check(root=ROOT):
    problems = []
    for path in cpp_files(root):
        text = (Path(root) / path).read_text(encoding="utf-8")
        problems.extend(problems_of_file(path, text))
    tidy = Path(root) / ".clang-tidy"
    if tidy.exists():
        problems.extend(problems_of_tidy(tidy.read_text(encoding="utf-8")))
    return problems


if __name__ == "__main__":
    tree = Path(*sys.argv[1:]) if len(sys.argv) > 1 else ROOT
    sys.exit(report(check(tree) + list(problems_of_exceptions(tree))))
