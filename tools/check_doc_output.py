#!/usr/bin/env python3
"""Checks the output in documents against the programs. Usage: check_doc_output.py [--fix] DIRECTORY...

Output in README.md and docs/ is compared with what the program prints today. In the document, above
the fenced block:

    <!-- output: example_worked_numbers gcra -->

The program is looked for in the directories given, and run with NO_COLOR=1. What it prints on
standard output must be the block; white space at the end of lines and of the block is ignored. With
--fix the blocks are rewritten instead. Ends with 77, skipped, when a program is missing because a
directory has no programs yet.
"""

import difflib
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

from check_docs import documents
from source_tree import ROOT, report

SKIPPED = 77
TIMEOUT_SECONDS = 60

_OUTPUT = re.compile(r"^ *<!-- output: (?P<command>\S.*?) -->$")
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})")


class NotBuilt(Exception):
    """A program is missing, and one of the directories has none at all."""


def end_of_block(lines, start):
    """The index of the fence that closes the one at start."""
    ticks = _FENCE.match(lines[start])["ticks"]
    end = start + 1
    while end < len(lines) and lines[end].strip() != ticks:
        end += 1
    return end


def outputs(lines):
    """(index, command, index of the opening fence or None) of each comment outside of blocks."""
    index = 0
    while index < len(lines):
        if _FENCE.match(lines[index]):
            index = end_of_block(lines, index)
        comment = _OUTPUT.match(lines[index]) if index < len(lines) else None
        if comment is not None:
            below = index + 1
            while below < len(lines) and not lines[below].strip():
                below += 1
            is_fence = below < len(lines) and _FENCE.match(lines[below])
            yield index, comment["command"], below if is_fence else None
        index += 1


def is_program(path):
    return path.is_file() and os.access(path, os.X_OK)


def find_program(name, directories):
    for directory in directories:
        if is_program(Path(directory) / name):
            return Path(directory) / name
    for directory in directories:
        folder = Path(directory)
        if not folder.is_dir() or not any(is_program(path) for path in folder.iterdir()):
            raise NotBuilt(f"{name} is not built: no programs in {directory}")
    return None


def run(command, directories, root):
    """The output of the command; an error text if it cannot run."""
    name, *arguments = shlex.split(command)
    program = None if "/" in name else find_program(name, directories)
    if program is None:
        return None, f"no program {name} in {', '.join(map(str, directories))}"
    try:
        result = subprocess.run(
            [program.resolve(), *arguments], cwd=root, env={**os.environ, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=TIMEOUT_SECONDS, check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"{command} did not end within {TIMEOUT_SECONDS} s"
    # An exit status of 1 is a denial, not a failure.
    if result.returncode < 0:
        return None, f"{command} was ended by signal {-result.returncode}"
    return result.stdout, None


def comparable(text):
    return [line.rstrip() for line in text.rstrip().split("\n")]


def difference(shown, number, command, body, printed):
    diff = difflib.unified_diff(comparable(body), comparable(printed), f"{shown}:{number}", command,
                                lineterm="")
    return "\n".join(diff)


def check_document(document, directories, root, fix):
    """The problems of one document; with fix, those that remain."""
    shown = document.relative_to(root).as_posix()
    lines = document.read_text(encoding="utf-8").split("\n")
    problems = []
    rewritten = list(lines)
    # from the end, so that a changed block does not move later ones
    for index, command, start in reversed(list(outputs(lines))):
        if start is None:
            problems.append(f"{shown}:{index + 1}: no fenced block below this line")
            continue
        printed, missing = run(command, directories, root)
        if missing is not None:
            problems.append(f"{shown}:{index + 1}: {missing}")
            continue
        end = end_of_block(lines, start)
        indent = _FENCE.match(lines[start])["indent"]
        body = "\n".join(line.removeprefix(indent) for line in lines[start + 1 : end])
        if comparable(body) == comparable(printed):
            continue
        if fix:
            block = textwrap.indent("\n".join(comparable(printed)), indent)
            rewritten[start + 1 : end] = block.split("\n")
        else:
            problems.append(difference(shown, start + 1, command, body, printed))
    if rewritten != lines:
        document.write_text("\n".join(rewritten), encoding="utf-8")
    return problems[::-1]


def check(directories, root=ROOT, fix=False):
    """The problems of all documents, and why some could not be checked."""
    problems, skipped = [], []
    for document in documents(root):
        try:
            problems.extend(check_document(document, directories, root, fix))
        except NotBuilt as reason:
            skipped.append(f"{document.relative_to(root).as_posix()}: {reason}")
    return problems, skipped


def main(arguments):
    directories = [argument for argument in arguments if argument != "--fix"]
    if not directories:
        print(__doc__)
        return 2
    problems, skipped = check(directories, fix="--fix" in arguments)
    status = report(problems + skipped)
    return SKIPPED if skipped and not problems else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
