"""HTTP/2 frame by frame, for tests that send what no library would."""

import os
import select
import socket
import struct
import time
from pathlib import Path

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    0, 1, 2, 3, 4, 6, 7, 8, 9)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
ENHANCE_YOUR_CALM = 11


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _integer(value, bits):
    most = (1 << bits) - 1
    if value < most:
        return bytes([value])
    value -= most
    out = [most]
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def literals(fields):
    """A header block that changes no table."""
    out = b""
    for name, value in fields:
        out += b"\0"
        for text in (name.encode(), value.encode()):
            out += _integer(len(text), 7) + text
    return out


def call_fields(path, more=()):
    return [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "x"),
            ("content-type", "application/grpc"), ("te", "trailers"), *more]


def message(size, filled=None):
    """A gRPC message that declares this size, with `filled` bytes of it."""
    return b"\0" + struct.pack(">I", size) + b"x" * (size if filled is None else filled)


class Http2Client:
    """A connection. Frames that arrive are kept in `frames`, as (kind, flags, stream, payload)."""

    def __init__(self, port, host="127.0.0.1", context=None, greets=True):
        self.socket = socket.create_connection((host, port), timeout=20)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.frames = []
        self.closed = False
        self.windows = {0: 65535}
        self.ended = set()  # streams that the server has answered or reset
        self._received = b""
        self._greets = greets
        if greets:
            self.send(PREFACE + frame(SETTINGS))
            self.wait_for(lambda: self.frames)  # its SETTINGS, which are acknowledged

    def send(self, data):
        """False when the other side has closed."""
        try:
            self.socket.sendall(data)
        except OSError:
            self.closed = True
        return not self.closed

    def read(self, wait=0.0):
        """Takes what has arrived, and waits so long for the first of it."""
        while not self.closed:
            pending = getattr(self.socket, "pending", lambda: 0)()
            if not pending and not select.select([self.socket], [], [], wait)[0]:
                return
            wait = 0
            try:
                piece = self.socket.recv(65536)
            except OSError:
                piece = b""
            self.closed = not piece
            self._received += piece
            self._parse()

    def _parse(self):
        while len(self._received) >= 9:
            size = int.from_bytes(self._received[:3], "big")
            if len(self._received) < 9 + size:
                return
            kind, flags, stream = struct.unpack(">BBI", self._received[3:9])
            payload, self._received = self._received[9:9 + size], self._received[9 + size:]
            self.frames.append((kind, flags, stream, payload))
            if kind == WINDOW_UPDATE:
                grown = struct.unpack(">I", payload)[0]
                self.windows[stream] = self.windows.get(stream, 65535) + grown
            if kind == SETTINGS and not flags & ACK and self._greets:
                self.send(frame(SETTINGS, ACK))
            if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
                self.ended.add(stream)

    def wait_for(self, what, timeout=20):
        deadline = time.monotonic() + timeout
        while not what() and time.monotonic() < deadline and not self.closed:
            self.read(0.1)
        return bool(what())

    def wait_closed(self, timeout):
        """Whether the other side closes in time."""
        deadline = time.monotonic() + timeout
        while not self.closed and time.monotonic() < deadline:
            self.read(0.1)
        return self.closed

    def goaway(self):
        """The error of the last GOAWAY and what it says; None when there is none."""
        found = [payload for kind, _, _, payload in self.frames if kind == GOAWAY]
        return (struct.unpack(">I", found[-1][4:8])[0], found[-1][8:]) if found else None

    def open(self, stream, path, more=()):
        return self.send(frame(HEADERS, END_HEADERS, stream, literals(call_fields(path, more))))

    def send_data(self, stream, data, end=False):
        """Within the windows that the server grants. False when it does not want more."""
        while data and stream not in self.ended and not self.closed:
            room = min(self.windows[0], self.windows.setdefault(stream, 65535), 16384, len(data))
            if room == 0:
                self.read(0.1)
                continue
            last = end and room == len(data)
            self.send(frame(DATA, END_STREAM if last else 0, stream, data[:room]))
            data = data[room:]
            self.windows[0] -= room
            self.windows[stream] -= room
            self.read()
        return not data and not self.closed

    def body(self, stream):
        return b"".join(payload for kind, _, number, payload in self.frames
                        if kind == DATA and number == stream)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def resident_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


def processor_seconds(pid):
    numbers = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
