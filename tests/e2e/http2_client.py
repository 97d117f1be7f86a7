"""An HTTP/2 client at frame level without dependencies: for plain requests and for malformed ones."""

import collections
import select
import socket
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    0, 1, 2, 3, 4, 6, 7, 8, 9)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INTERNAL_ERROR, ENHANCE_YOUR_CALM = 2, 11
MAX_FRAME, INITIAL_WINDOW, MAX_STREAM = 16384, 65535, 0x7FFFFFFF  # bytes, bytes, number


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def uint32(value):
    """The payload of WINDOW_UPDATE and of RST_STREAM."""
    return struct.pack(">I", value)


def _length(value):
    """The HPACK length of a text without Huffman coding."""
    if value < 127:
        return bytes([value])
    value -= 127
    out = [127]
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def literals(fields):
    """A header block that does not change the dynamic table."""
    return b"".join(b"\0" + b"".join(_length(len(text)) + text.encode() for text in field) for field in fields)


def request_fields(method, path):
    return [(":method", method), (":scheme", "http"), (":path", path), (":authority", "x")]


def call_fields(path, more=()):
    """Header fields of a gRPC call."""
    return [*request_fields("POST", path), ("content-type", "application/grpc"), ("te", "trailers"), *more]


def headers(stream, fields, flags=END_HEADERS):
    return frame(HEADERS, flags, stream, literals(fields))


class Http2Client:
    """A connection. It acknowledges SETTINGS and PING, but only when one of its functions reads.

    frames   received frames, as (kind, flags, stream, payload)
    ended    the streams that the server has answered or reset
    goaway   error and text of the last GOAWAY, or None
    closed   whether the server has closed
    """

    def __init__(self, port, context=None, settings=b"", sends_preface=True):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        # Otherwise the end of each window waits 40 ms for a delayed TCP acknowledgement.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.frames = []
        self.ended = set()
        self.goaway = None
        self.closed = False
        self._last_stream = MAX_STREAM  # last stream that the server will answer
        self._next_stream = 1
        self._windows = collections.defaultdict(lambda: INITIAL_WINDOW)
        self._received = b""
        self._sends_preface = sends_preface
        if sends_preface:
            self.send(PREFACE + frame(SETTINGS, payload=settings) + frame(WINDOW_UPDATE, payload=uint32(1 << 30)))
            self.wait_for(lambda: self.frames)  # its SETTINGS

    def send(self, data):
        """False when the server has closed."""
        try:
            self.socket.sendall(data)
        except OSError:
            self.read()  # what it sent before
            self.closed = True
        return not self.closed

    def read(self, wait=0.0):
        """Reads what has arrived; waits up to this many seconds for it."""
        while not self.closed:
            pending = getattr(self.socket, "pending", lambda: 0)()  # TLS has its own buffer
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
            end = 9 + int.from_bytes(self._received[:3], "big")
            if len(self._received) < end:
                return
            kind, flags, stream = struct.unpack(">BBI", self._received[3:9])
            payload, self._received = self._received[9:end], self._received[end:]
            self.frames.append((kind, flags, stream, payload))
            self._note(kind, flags, stream, payload)

    def _note(self, kind, flags, stream, payload):
        if kind == WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload, "big")
        elif kind in (SETTINGS, PING) and not flags & ACK and self._sends_preface:
            try:
                self.socket.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
            except OSError:
                pass  # read() detects the close after all received data
        elif kind == GOAWAY:
            self._last_stream, error = struct.unpack(">II", payload[:8])
            self.goaway = error, payload[8:]
        elif kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
            self.ended.add(stream)

    def wait_for(self, what, timeout=20):
        deadline = time.monotonic() + timeout
        while not what() and not self.closed and time.monotonic() < deadline:
            self.read(0.1)
        return bool(what())

    def wait_closed(self, timeout):
        return self.wait_for(lambda: self.closed, timeout)

    def has(self, kind):
        return any(found == kind for found, *_ in self.frames)

    def body(self, stream):
        return b"".join(payload for kind, _, of, payload in self.frames if kind == DATA and of == stream)

    def open_call(self, stream, path, more=()):
        return self.send(headers(stream, call_fields(path, more)))

    def send_data(self, stream, data, end=False):
        """Respects the server's flow-control windows. False when the server stops reading."""
        data = memoryview(data)
        while data and stream not in self.ended and not self.closed:
            room = min(self._windows[0], self._windows[stream], MAX_FRAME)
            if room == 0:
                self.read(0.1)
                continue
            piece, data = data[:room], data[room:]
            self.send(frame(DATA, END_STREAM if end and not data else 0, stream, piece))
            self._windows[0] -= len(piece)
            self._windows[stream] -= len(piece)
            self.read()
        return not data and not self.closed

    def get(self, path):
        """The status: 200, or 0 for any other. ConnectionError without a response."""
        stream, self._next_stream = self._next_stream, self._next_stream + 2
        self.frames.clear()
        self.send(headers(stream, request_fields("GET", path), END_HEADERS | END_STREAM))
        self.wait_for(lambda: stream in self.ended or self._last_stream < stream)
        answer = [(kind, payload) for kind, _, of, payload in self.frames if of == stream]
        if stream not in self.ended or answer[-1][0] == RST_STREAM:
            raise ConnectionError(f"no answer on stream {stream}: closed {self.closed}, GOAWAY {self.goaway}")
        return 200 if answer[0][1][:1] == b"\x88" else 0  # an index of the static table of HPACK

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
