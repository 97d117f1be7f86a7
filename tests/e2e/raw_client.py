"""A client that sends raw bytes and reads HTTP responses one by one."""

import http.client
import io
import socket


class _PersistentReader(io.BufferedReader):
    """HTTPResponse closes its file after a response; here another may follow."""

    def close(self):
        pass


class RawClient:
    def __init__(self, port, context=None, timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        if context is not None:
            try:
                self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
            except OSError:
                self.socket.close()
                raise
        self._reader = _PersistentReader(socket.SocketIO(self.socket, "r"))

    def makefile(self, *_):  # what HTTPResponse reads from
        return self._reader

    def send(self, *pieces):
        for piece in pieces:
            self.socket.sendall(piece)
        return self

    def answer(self, method="GET"):
        """Status, lower-case fields and body of the next response; None when there is none."""
        response = http.client.HTTPResponse(self, method=method)
        try:
            response.begin()
        except ConnectionError:
            return None
        fields = {name.lower(): value for name, value in response.getheaders()}
        return response.status, fields, response.read()

    def everything(self):
        """Reads until the server closes."""
        received = b""
        try:
            while piece := self._reader.read1(65536):
                received += piece
        except ConnectionError:
            pass
        return received

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
