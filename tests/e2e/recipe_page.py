"""Reads a page of the documentation as a list of blocks, which recipe.py carries out.

A page is Markdown. Its fenced blocks are carried out in order, in a folder that has only examples/:

    ```yaml penstock.yaml    a file: language, name. A later block of the same name replaces it. The line above
                             shows the name, since readers do not see this one
    ```yaml                  a part of a configuration, or a list of rules: `penstock validate` accepts it
    ```sh                    commands, run by one bash for the whole page
    ```sh exit-1             commands of which the last one ends with this status, not with 0
    ```text                  what the commands above print on both outputs; none: they print nothing

In expected output, … stands for any text within a line, and a line that is only … for any number of
lines. Comments above a block change what is done with it:

    <!-- needs: go -->           skipped where the program, or the package npm:NAME, is missing
    <!-- eventually: reason -->  repeated until the commands print what the page shows
    <!-- not run: reason -->     shown only; tests list all of these
    <!-- not output -->          text that no command prints, such as a drawing or a formula
    <!-- snippet: … -->, <!-- output: … -->, <!-- not compiled: … -->   checked by tools/, not here

`<!-- setup: command -->` on a line of its own runs a command that readers do not need, such as a
daemon for the examples of a reference page.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

ANY = "…"
_FENCE = re.compile(r"^```(?P<language>\w*) ?(?P<rest>\S*)\s*$")
_MARK = re.compile(r"^<!-- (?P<kind>needs|not run|eventually): (?P<what>\S.*?) -->$")
_SETUP = re.compile(r"^<!-- setup: (?P<command>\S.*?) -->$")
_CHECKED_ELSEWHERE = re.compile(r"^<!-- (?:snippet|output|not compiled): .* -->$")
_NOT_OUTPUT = "<!-- not output -->"
_REQUEST = re.compile(r"\bcurl\b|\bredis-cli\b.*-p 6380|\b(?:node|python3|go run|java|php) \w+\.\w+")


class WrongPage(Exception):
    """The page is not what the program does, or has a block that is not carried out."""


@dataclass
class Block:
    line: int
    language: str
    rest: str  # file name, or exit-N
    body: str
    needs: str = ""
    not_run: str = ""
    eventually: str = ""
    output: str = ""
    is_setup: bool = False

    @property
    def is_commands(self):
        return self.language == "sh"

    @property
    def is_part(self):
        """A part of a configuration."""
        return self.language == "yaml" and not self.rest

    @property
    def is_file(self):
        return not self.is_commands and not self.is_part and not self.not_run

    @property
    def exit_status(self):
        return int(self.rest.removeprefix("exit-") or 0)


@dataclass
class Page:
    path: Path
    blocks: list = field(default_factory=list)

    @property
    def commands(self):
        return [block for block in self.blocks if block.is_commands]


def block_at(path, lines, number):
    """The block that begins in this line, and the line of its end."""
    where = f"{path.name}:{number + 1}"
    opening = _FENCE.match(lines[number])
    if opening is None or "```" not in lines[number + 1 :]:
        raise WrongPage(f"{where}: not a fence of a recipe: {lines[number]}")
    end = lines.index("```", number + 1)
    above = next((line for line in reversed(lines[:number]) if line.strip()), "")
    name = opening["rest"]
    if _CHECKED_ELSEWHERE.match(above) or (above == _NOT_OUTPUT and opening["language"] == "text"):
        return None, end
    mark = _MARK.match(above)
    marks = {mark["kind"].replace(" ", "_"): mark["what"]} if mark else {}
    if name and opening["language"] != "sh" and f"`{name}`" not in above:
        raise WrongPage(f"{where}: the line above does not show the name of the file")
    body = "\n".join(lines[number + 1 : end]) + "\n"
    return Block(number + 1, opening["language"], name, body, **marks), end


def fenced_blocks(path, text):
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        setup = _SETUP.match(lines[number])
        if setup is not None:
            yield Block(number + 1, "sh", "", setup["command"] + "\n", is_setup=True)
        elif lines[number].lstrip().startswith(("```", "~~~")):
            block, number = block_at(path, lines, number)
            if block is not None:
                yield block
        number += 1


def check_block(block, where):
    """Raises WrongPage for a block that would not be carried out."""
    if block.not_run:
        return
    if block.is_commands and not re.fullmatch(r"(exit-\d+)?", block.rest):
        raise WrongPage(f"{where}: {block.rest}; write exit-N or nothing")
    is_file = not block.is_commands and not block.is_part
    if is_file and (not block.rest or block.needs):
        raise WrongPage(f"{where}: neither commands nor a file with a name")


def read_page(path, text=None):
    """The blocks, each with its output. Raises WrongPage for blocks that would not be carried out."""
    page = Page(path)
    for block in fenced_blocks(path, text if text is not None else path.read_text(encoding="utf-8")):
        where = f"{path.name}:{block.line}"
        if block.language == "text" and not block.not_run:
            last = page.blocks[-1] if page.blocks else None
            if last is None or not last.is_commands or last.output or last.is_setup or block.rest:
                raise WrongPage(f"{where}: output that is not below commands")
            if not block.body.replace(ANY, "").strip():
                raise WrongPage(f"{where}: output that says nothing")
            last.output = block.body
            continue
        check_block(block, where)
        page.blocks.append(block)
    check_use(page)
    return page


def check_use(page):
    """Every file is used by commands or by another file. A page with files sends a request and shows the answer."""
    run = [block for block in page.commands if not block.not_run]
    files = [block for block in page.blocks if block.is_file]
    for block in files:
        others = [other for other in files if other.rest != block.rest]
        is_named = any(block.rest in other.body for other in run + others)
        if not is_named or not any(other.line > block.line for other in run):
            raise WrongPage(f"{page.path.name}:{block.line}: no command uses {block.rest}")
    if files and not any(re.search(r"^penstock serve ", block.body, re.MULTILINE) for block in run):
        raise WrongPage(f"{page.path.name}: no command starts the daemon")
    if files and not any(_REQUEST.search(block.body) and block.output for block in run):
        raise WrongPage(f"{page.path.name}: no request with its answer")
