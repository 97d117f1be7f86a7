"""A daemon with a gateway, and scripted upstreams for it."""

import socket
import threading

from daemon import Daemon
from redis_server import free_port

MEBIBYTE = 1 << 20

GATEWAY = """
server: {{headers: [x-ratelimit], workers: {workers}}}
gateway:
  listen: 127.0.0.1:{port}
  {more}
  upstreams:
    app: {{servers: [{servers}]{upstream}}}
  routes: [{{upstream: app}}]
domains:
  default:
    rules:
      - {{name: limited, when: {{path: /limited/**}}, key: [client_ip, path], limit: 3/hour}}
      - {{name: everyone, limit: 100000000/hour}}
"""


def gateway(servers, more="", upstream="", workers=1, files=None):
    port = free_port()
    text = GATEWAY.format(port=port, more=more, workers=workers,
                          upstream=", " + upstream if upstream else "",
                          servers=", ".join(f'"http://127.0.0.1:{one}"' for one in servers))
    daemon = Daemon(text, files=files)
    daemon.gateway_port = port
    return daemon


class RawUpstream:
    """Serves each connection with the given function; counts requests."""

    def __init__(self, serve):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.requests = 0
        self.connections = 0
        self._serve = serve
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._socket.accept()
                self.connections += 1
            except OSError:
                return
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        with connection:
            connection.settimeout(20)
            try:
                self._serve(self, connection)
            except OSError:
                pass

    def close(self):
        self._socket.close()


def read_head(connection):
    text = b""
    while b"\r\n\r\n" not in text:
        part = connection.recv(65536)
        if not part:
            return b""
        text += part
    return text


def small_answers(upstream, connection):
    while read_head(connection):
        upstream.requests += 1
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
