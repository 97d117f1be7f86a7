"""A RESP2 client without dependencies: one connection."""

import socket


class RespClient:
    def __init__(self, port, timeout=20):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._replies = self._socket.makefile("rb")

    def ask(self, *words):
        """The reply to one command: text, a number, None or a list; an error is raised."""
        self.send(*words)
        return self.reply()

    def send(self, *words):
        data = b"*%d\r\n" % len(words)
        for word in words:
            text = str(word).encode()
            data += b"$%d\r\n%s\r\n" % (len(text), text)
        self._socket.sendall(data)

    def reply(self):
        line = self._replies.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        if kind == b"$":
            return None if int(rest) < 0 else self._replies.read(int(rest) + 2)[:-2].decode()
        return [self.reply() for _ in range(int(rest))]

    def close(self):
        self._replies.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
