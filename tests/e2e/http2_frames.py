"""HTTP/2 frame by frame, for clients that do what no library would."""

import socket
import struct

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
ENHANCE_YOUR_CALM = 11
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A field without indexing or Huffman coding; both texts are short."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def request(stream, path=b"/", method=b"GET", flags=END_HEADERS | END_STREAM):
    block = (literal(b":method", method) + literal(b":scheme", b"http")
             + literal(b":path", path) + literal(b":authority", b"a"))
    return frame(HEADERS, flags, stream, block)


class Http2Client:
    """Has said hello, and acknowledges the settings when it reads them."""

    def __init__(self, port, settings=b"", timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._received = b""
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings))

    def send(self, data):
        self.socket.sendall(data)
        return self

    def read(self):
        """Kind, flags, stream and payload of the next frame; None at the end."""
        while True:
            if len(self._received) >= 9:
                size = int.from_bytes(self._received[:3], "big")
                if len(self._received) >= 9 + size:
                    kind, flags, stream = struct.unpack(">BBI", self._received[3:9])
                    payload = self._received[9:9 + size]
                    self._received = self._received[9 + size:]
                    if kind == SETTINGS and not flags & ACK:
                        self.send(frame(SETTINGS, ACK, 0))
                    return kind, flags, stream & 0x7FFFFFFF, payload
            try:
                more = self.socket.recv(65536)
            except TimeoutError:
                raise
            except OSError:
                return None
            if not more:
                return None
            self._received += more

    def read_until(self, kind):
        while found := self.read():
            if found[0] == kind:
                return found
        return None

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
