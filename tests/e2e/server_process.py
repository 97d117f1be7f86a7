"""Runs a third-party server in front of or behind the daemon."""

import os
import shutil
import signal
import socket
import subprocess
import unittest

from daemon import eventually

_TIMEOUT = 15  # seconds


def require(*programs):
    """Skips the test or class when a program is not installed."""
    for program in programs:
        if shutil.which(program) is None:
            raise unittest.SkipTest(f"{program} is not installed")


class ServerProcess:
    """Listens on this port of 127.0.0.1 on return; runs and logs in the folder."""

    def __init__(self, command, port, folder, env=None):
        self._log = folder / "log"
        with open(self._log, "w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **(env or {})}
            )

        def is_up():
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return True
            except OSError:
                return False

        eventually(lambda: is_up() or self._process.poll() is not None, _TIMEOUT)
        if self._process.poll() is not None or not is_up():
            self.close()
            raise RuntimeError(f"{command[0]} does not start:\n{self.output}")

    @property
    def output(self):
        return self._log.read_text(encoding="utf-8")

    def close(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
