"""Chromium on the operator's page, driven by tests/interop/page/driver.mjs."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from npm_packages import INTEROP, install_packages

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--force-color-profile=srgb", "--hide-scrollbars")
_TIMEOUT = 90  # seconds; a page polls once a second, and machines are busy


class Browser:
    """One tab. Skips the module where Chromium, node or the npm registry is missing."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            raise unittest.SkipTest("none of " + ", ".join(NAMES) + " is installed")
        folder = install_packages(INTEROP / "page")
        options = [*OPTIONS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]  # required as root
        self._home = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self._process = subprocess.Popen(
            ["node", str(folder / "driver.mjs"), program, *options], cwd=folder, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "HOME": str(self._home)})

    def _call(self, name, **parameters):
        self._process.stdin.write(json.dumps({"do": name, **parameters}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the driver of the browser ended")
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError(f"{name} {parameters}: {answer['error']}")
        return answer["value"]

    def open(self, url, width=1440, height=900, scheme="light"):
        """A fresh context: nothing is stored from before."""
        self._call("open", url=url, width=width, height=height, scheme=scheme)

    def text(self, selector):
        return self._call("text", selector=selector)

    def texts(self, selector):
        return self._call("texts", selector=selector)

    def value(self, selector):
        return self._call("value", selector=selector)

    def click(self, selector):
        self._call("click", selector=selector)

    def fill(self, selector, text):
        self._call("fill", selector=selector, text=text)

    def press(self, *keys):
        for key in keys:
            self._call("press", key=key)

    def type(self, text):
        self._call("type", text=text)

    @property
    def focused(self):
        """The id or the text of the element with the focus."""
        return self._call("focused")

    def evaluate(self, script):
        return self._call("evaluate", script=script)

    def screenshot(self, path, selector=None):
        self._call("screenshot", path=str(path), **({"selector": selector} if selector else {}))

    def problems(self):
        """Errors and warnings of the console, exceptions, policy violations and dialogs since the last call."""
        return self._call("problems")

    def wait_for(self, selector, pattern, timeout=_TIMEOUT):
        """The text of the element, once it matches."""
        deadline = time.monotonic() + timeout
        while True:
            text = self.text(selector)
            if re.search(pattern, text):
                return text
            if time.monotonic() > deadline:
                raise AssertionError(f"{selector} does not match {pattern!r}; it says {text!r}")
            time.sleep(0.1)

    def close(self):
        self._process.stdin.close()
        try:
            self._process.wait(_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._home, ignore_errors=True)
