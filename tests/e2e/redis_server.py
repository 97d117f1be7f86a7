"""A redis-server for tests on a free port, without persistence."""

import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from process_signal import send_signal

_TIMEOUT = 10  # seconds


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RedisServer:
    def __init__(self, *settings):
        self._settings = settings
        self._folder = tempfile.mkdtemp(prefix="penstock-e2e-")
        for _ in range(3):  # another process may take the port first
            self.port = free_port()
            self._process = subprocess.Popen(
                self._command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if self._is_up():
                return
            self.stop()
        raise RuntimeError("redis-server does not start")

    def _command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                "--dir", self._folder, *self._settings]

    def _is_up(self):
        deadline = time.monotonic() + _TIMEOUT
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def call(self, *parts):
        """The reply to one command: text, a number, None or a list of these."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=_TIMEOUT) as connection:
            request = b"*%d\r\n" % len(parts)
            for part in parts:
                data = part if isinstance(part, bytes) else str(part).encode()
                request += b"$%d\r\n%s\r\n" % (len(data), data)
            connection.sendall(request)
            with connection.makefile("rb") as replies:
                return self._read(replies)

    def _read(self, replies):
        line = replies.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        if kind == b"$":
            if int(rest) < 0:
                return None
            return replies.read(int(rest) + 2)[:-2].decode("utf-8", "replace")
        return [self._read(replies) for _ in range(int(rest))]

    def keys(self):
        return sorted(self.call("KEYS", "*"))

    def signal(self, which):
        send_signal(self._process, which)

    def stop(self):
        self._process.kill()
        self._process.wait()

    def start_again(self):
        """On the same port, empty."""
        self._process = subprocess.Popen(self._command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not self._is_up():
            raise RuntimeError("redis-server does not start again")

    def close(self):
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


class Sentinel(RedisServer):
    """A sentinel; it keeps its state in its configuration file."""

    def _command(self):
        path = Path(self._folder) / "sentinel.conf"
        path.write_text(f"port {self.port}\nbind 127.0.0.1\ndir {self._folder}\n", encoding="utf-8")
        return ["redis-server", str(path), "--sentinel"]
