"""Runs a page of the documentation as a reader would; recipe_page.py describes pages.

A page names the ports that a reader would use; they are replaced by free ones, in files, commands and
output. The daemon has the shutdown delay that it has in a terminal, and a store.timeout that does not
depend on the load of the machine, unless the page sets them. After commands that start a server, and
after a file of a running daemon is replaced, the runner waits until the server is ready.
"""

import difflib
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from daemon import PROGRAM, SOURCE_DIR, ask, eventually
from recipe_page import ANY, WrongPage

_PORTS = (3000, 6379, 6380, 8000, 8001, 8080, 8081, 8082, 9090, 9091)
_PORT = re.compile(r"([\w\]]:|-p |--port |http\.server |listen\()(\d{4,5})\b(?!\.)")
_BLOCK_TIMEOUT = 300  # seconds; `go run` compiles the standard library
_READY_TIMEOUT = 30


def pattern_of(expected):
    parts = []
    for line in expected.rstrip().split("\n"):
        if line.strip() == ANY:
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(map(re.escape, line.rstrip().split(ANY))) + r"\n")
    return re.compile("".join(parts))


def plain(output):
    lines = output.replace("\r", "").rstrip().split("\n")
    return "".join(line.rstrip() + "\n" for line in lines)


def free_port(taken):
    """A port below the range from which the kernel picks those of clients."""
    while True:
        port = random.randrange(12000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in taken:
            return port


def with_long_store_timeout(text):
    """The configuration with a store.timeout that does not depend on the load, unless it has one."""
    if re.search(r"^ +timeout:", text, re.MULTILINE):
        return text
    return re.sub(r"^( *)(url: redis:.*)$", r"\1\2\n\1timeout: 5s", text, flags=re.MULTILINE)


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


_PENSTOCK = r"""#!/bin/bash
# The program; a daemon logs to a file and listens on the ports of this test.
[ "$1" = serve ] || exec "$PENSTOCK_PROGRAM" "$@"
for argument; do
  case $argument in
    --listen) listen=given ;;
    --admin) admin=given ;;
    --shutdown-delay) delay=given ;;
  esac
done
[ "$listen" ] || set -- "$@" --listen 127.0.0.1:$DEFAULT_LISTEN
[ "$admin" ] || set -- "$@" --admin 127.0.0.1:$DEFAULT_ADMIN
[ "$delay" ] || grep -qs shutdown_delay ./*.yaml || set -- "$@" --shutdown-delay 0s
echo $$ >> .daemons
exec "$PENSTOCK_PROGRAM" "$@" > .log.$$ 2>&1
"""


class Session:
    """Carries out the blocks of one page."""

    def __init__(self, page, node_modules=None):
        self._page = page
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-recipe-"))
        self._ports = {}
        for port in _PORTS:
            self._ports[port] = free_port(self._ports.values())
        self._write_programs()
        self._copy_examples()
        if node_modules is not None:
            (self.folder / "node_modules").symlink_to(node_modules)
        self._read_end, write_end = os.pipe()
        self._shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=self.folder, env=self._environment(), encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, pass_fds=(write_end,),
        )
        self._done = write_end
        os.close(write_end)
        self._replies = os.fdopen(self._read_end, encoding="utf-8")
        self._started = 0  # daemons that were waited for

    def _write_programs(self):
        folder = self.folder / ".bin"
        folder.mkdir()
        (folder / "penstock").write_text(_PENSTOCK, encoding="utf-8")
        redis = shutil.which("redis-server") or "redis-server"
        (folder / "redis-server").write_text(
            f'#!/bin/sh\nexec {redis} "$@" > .log.$$ 2>&1\n', encoding="utf-8")
        for path in folder.iterdir():
            path.chmod(0o755)
        (folder / "python3").symlink_to(sys.executable)  # has the packages of the tests
        # As in a terminal, where curl shows no progress beside a short answer.
        (folder / ".curlrc").write_text("silent\n", encoding="utf-8")

    def _copy_examples(self):
        """The examples with the ports of this test, and timeouts that do not depend on its load."""
        shutil.copytree(SOURCE_DIR / "examples", self.folder / "examples")
        for path in (self.folder / "examples").rglob("*.*"):
            if path.suffix not in (".conf", ".yaml", ".cfg", ".lua"):
                continue
            text = _PORT.sub(lambda match: match[1] + str(self._ports.get(int(match[2]), match[2])),
                             path.read_text(encoding="utf-8"))
            text = with_long_store_timeout(re.sub(r"(_timeout) \d+ms", r"\1 10s", text))
            path.write_text(text, encoding="utf-8")

    def _environment(self):
        return {
            **os.environ, "PATH": f"{self.folder / '.bin'}:{os.environ['PATH']}:/usr/sbin", "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1", "PENSTOCK_PROGRAM": PROGRAM, "CURL_HOME": str(self.folder / ".bin"), "DEFAULT_LISTEN": str(self._ports[8080]),
            "DEFAULT_ADMIN": str(self._ports[9090]), "PENSTOCK_ADMIN": f"http://127.0.0.1:{self._ports[9090]}",
        }

    def _own(self, text):
        """The text with the ports of this test."""
        def replace(match):
            port = self._ports.get(int(match[2]))
            if port is None:
                raise WrongPage(f"{self._page.path.name}: port {match[2]} is none of {_PORTS}")
            return f"{match[1]}{port}"

        return _PORT.sub(replace, text)

    def _shown(self, text):
        """The text with the ports of the page."""
        for shown, own in self._ports.items():
            text = re.sub(rf"\b{own}\b", str(shown), text)
        return text

    def carry_out(self, block):
        if block.is_commands:
            self._run(block)
        elif block.is_part:
            self._validate(block)
        else:
            self._write(block)

    def _write(self, block):
        text = with_long_store_timeout(self._own(block.body))
        path = self.folder / block.rest
        is_change = path.exists() and path.read_text(encoding="utf-8") != text
        users = [pid for pid in self._daemons() if is_change and self._uses(pid, block.rest)]
        before = {pid: self._log(pid).count("configuration was") for pid in users}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for pid, count in before.items():
            if not eventually(lambda: self._log(pid).count("configuration was") > count, _READY_TIMEOUT):
                raise WrongPage(f"{self._page.path.name}:{block.line}: the daemon does not load {block.rest}")

    def _validate(self, block):
        """The part, with its own ports, must be a valid configuration; rules are put into a domain."""
        text = block.body
        if text.startswith("- "):
            text = "domains:\n  example:\n    rules:\n" + re.sub(r"^(?=.)", "      ", text, flags=re.MULTILINE)
        path = self.folder / ".part.yaml"
        path.write_text(text, encoding="utf-8")
        result = subprocess.run([PROGRAM, "validate", path], capture_output=True, encoding="utf-8", check=False)
        if result.returncode != 0:
            raise WrongPage(f"{self._page.path.name}:{block.line}: {result.stdout}{result.stderr}")

    def _run(self, block):
        deadline = time.monotonic() + (_READY_TIMEOUT if block.eventually else 0)
        problem = self._problem_of(block)
        while problem and time.monotonic() < deadline:
            time.sleep(0.1)
            problem = self._problem_of(block)
        if problem:
            raise WrongPage(problem)

    def _problem_of(self, block):
        """Runs the commands; None if they do what the page says."""
        where = f"{self._page.path.name}:{block.line}"
        script, output = self.folder / ".commands", self.folder / f".output.{block.line}"
        script.write_text(self._own(block.body), encoding="utf-8")
        self._shell.stdin.write(f". ./.commands >{output.name} 2>&1 </dev/null; echo $? >&{self._done}\n")
        self._shell.stdin.flush()
        status = self._status(where)
        self._wait_for_servers(block, where)
        printed = plain(self._shown(output.read_text(encoding="utf-8", errors="replace")))
        if block.output and not pattern_of(block.output).fullmatch(printed):
            diff = difflib.unified_diff(
                block.output.splitlines(), printed.splitlines(), where, "printed", lineterm="", n=99)
            return "\n".join(diff)
        if not block.output and printed.strip() and not block.is_setup:
            return f"{where}: prints what the page does not show:\n{printed}"
        if status != block.exit_status:
            return f"{where}: ends with {status}, not {block.exit_status}:\n{printed}"
        return None

    def _status(self, where):
        deadline = time.monotonic() + _BLOCK_TIMEOUT
        while not select.select([self._replies], [], [], 0.5)[0]:
            if time.monotonic() > deadline:
                raise WrongPage(f"{where}: does not end within {_BLOCK_TIMEOUT} s")
            if self._shell.poll() is not None:
                raise WrongPage(f"{where}: ends the shell")
        return int(self._replies.readline())

    def _daemons(self):
        path = self.folder / ".daemons"
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def _log(self, pid):
        path = self.folder / f".log.{pid}"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def _uses(self, pid, name):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")
        except OSError:
            return False
        return name in command or any(
            path in command and name in (self.folder / path).read_text(encoding="utf-8")
            for path in os.listdir(self.folder) if path.endswith(".yaml"))

    def _wait_for_servers(self, block, where):
        background = [line for line in self._own(block.body).split("\n") if re.search(r" &(\s|$)", line)]
        for name in re.findall(r"\S+\.(?:conf|mjs)\b", " ".join(background)):
            background += re.findall(r"\blisten\b.*", (self.folder / name).read_text(encoding="utf-8"))
        ports = [int(match[2]) for line in background if "curl" not in line for match in _PORT.finditer(line)]
        for port in ports:
            if not eventually(lambda: is_open(port), _READY_TIMEOUT):
                raise WrongPage(f"{where}: nothing listens on the port {self._shown(str(port))}")
        expected = sum(line.lstrip().startswith("penstock serve") for line in background) + self._started
        if not eventually(lambda: len(self._daemons()) >= expected, _READY_TIMEOUT):
            raise WrongPage(f"{where}: the daemon does not start")
        for pid in self._daemons()[self._started :]:
            if not self._becomes_ready(pid):
                raise WrongPage(f"{where}: the daemon is not ready:\n{self._log(pid)}")
            for warning in re.findall(r"warning: (.*)\"$", self._log(pid), re.MULTILINE):
                if not any(warning in block.output for block in self._page.commands):
                    raise WrongPage(f"{where}: the page does not show this warning: {warning}")
        self._started = len(self._daemons())

    def _becomes_ready(self, pid):
        deadline = time.monotonic() + _READY_TIMEOUT
        while time.monotonic() < deadline and Path(f"/proc/{pid}").exists():
            if self._is_ready(pid):
                return True
            time.sleep(0.02)
        return False

    def _is_ready(self, pid):
        admin = re.search(r"admin on http://\S*:(\d+)", self._log(pid))
        if admin is None:
            return False
        try:
            status, _, body = ask(int(admin[1]), "GET", "/readyz")
        except OSError:
            return False
        return status == 200 and not body["reasons"]

    def logs(self):
        return "".join(f"{path.name}:\n{path.read_text(errors='replace')}" for path in self.folder.glob(".log.*"))

    def close(self):
        try:
            self._shell.communicate("kill $(jobs -p) 2>/dev/null; wait; exit\n", timeout=_READY_TIMEOUT)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            os.killpg(self._shell.pid, signal.SIGKILL)
            self._shell.wait()
        self._replies.close()
        shutil.rmtree(self.folder, ignore_errors=True)
