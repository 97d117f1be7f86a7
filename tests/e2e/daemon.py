"""Runs a daemon, the built program named by PENSTOCK_PROGRAM, on free ports."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import NamedTuple

from process_signal import send_signal

PROGRAM = os.environ.get("PENSTOCK_PROGRAM", "")
SOURCE_DIR = Path(__file__).resolve().parents[2]
_TIMEOUT = 20  # seconds


class Answer(NamedTuple):
    status: int
    fields: dict  # names in lower case
    body: object  # parsed JSON, else text


class Daemon:
    """`with Daemon(text) as daemon`: serves this configuration until the end of the block. Its output is shown only
    when the block fails."""

    def __init__(self, configuration, listen="127.0.0.1:0", files=None, whole_folder=False, env=None,
                 options=("--shutdown-delay", "0s"), admin=("--admin", "127.0.0.1:0")):
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.configuration = self.folder / "penstock.yaml"
        self.configuration.write_text(configuration, encoding="utf-8")
        for name, text in (files or {}).items():
            (self.folder / name).write_text(text, encoding="utf-8")
        self._lines = []
        source = self.folder if whole_folder else self.configuration
        self._process = subprocess.Popen(
            [PROGRAM, "serve", "--config", str(source),
             "--listen", listen, *admin, *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            env={**os.environ, **(env or {})},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = self._port("listening on")
        self.admin_port = self._port("admin on")

    def _read(self):
        for line in self._process.stdout:
            self._lines.append(line)

    @property
    def resp_port(self):
        """Port of the RESP listener, if configured."""
        return self._port("listening on", "rediss?")

    def _port(self, what, scheme="https?"):
        deadline = time.monotonic() + _TIMEOUT
        while time.monotonic() < deadline:
            for line in list(self._lines):
                found = re.search(rf"{what} {scheme}://[^ ]*:(\d+)", line)
                if found:
                    return int(found.group(1))
            if self._process.poll() is not None:
                self._reader.join(1)
                break
            time.sleep(0.01)
        self.close()
        raise RuntimeError("the daemon does not start:\n" + self.output)

    @property
    def pid(self):
        return self._process.pid

    @property
    def output(self):
        return "".join(self._lines)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, headers=None, port=None):
        return ask(port or self.port, method, path, body, headers)

    def admin(self, path):
        return ask(self.admin_port, "GET", path)

    def metric(self, name):
        """The sum of all series of this name; `name` may include labels."""
        _, _, text = self.admin("/metrics")
        wanted = name.partition("{")
        labels = [label for label in wanted[2].rstrip("}").split(",") if label]
        total = 0.0
        for line in text.splitlines():
            series = re.match(r"([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)", line)
            if series and series.group(1) == wanted[0] and all(
                label in (series.group(2) or "") for label in labels
            ):
                total += float(series.group(3))
        return total

    def signal(self, which):
        send_signal(self._process, which)

    def exit_code(self):
        """None while it runs."""
        return self._process.poll()

    def wait(self, timeout=_TIMEOUT):
        return self._process.wait(timeout)

    def wait_for_output(self, text, timeout=_TIMEOUT):
        if not eventually(lambda: text in self.output, timeout):
            raise AssertionError(f"{text!r} is not in the output")

    def close(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join(2)
        self._process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close()
        if kind is not None and not issubclass(kind, unittest.SkipTest):
            print("The daemon said:\n" + self.output, file=sys.stderr)


def eventually(what, timeout=10):
    """Whether `what` becomes true in time."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if what():
            return True
        time.sleep(0.02)
    return False


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    try:
        sent = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        fields = {name.lower(): value for name, value in response.getheaders()}
        kind = fields.get("content-type", "")
        body = json.loads(text) if "json" in kind and text else text
        return Answer(response.status, fields, body)
    finally:
        connection.close()
