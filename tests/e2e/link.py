"""A TCP proxy that can be cut or slow, to simulate network partitions."""

import contextlib
import socket
import threading
import time


class Link:
    """Forwards bytes between clients and the server after `delay` seconds. While cut, bytes are dropped silently."""

    def __init__(self, port, delay=0):
        self._to = port
        self._delay = delay
        self._lose = None  # see lose_answers_to()
        self._muted = set()  # sockets of clients that receive no more replies
        self._is_cut = threading.Event()
        self._is_closed = threading.Event()
        self._sockets = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self._is_closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            ends = threading.Semaphore(0)
            self._sockets |= {client, server}
            for source, sink in ((client, server), (server, client)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._pass, args=(source, sink, ends), daemon=True).start()
            threading.Thread(target=self._close, args=(client, server, ends), daemon=True).start()

    def _pass(self, source, sink, ends):
        try:
            while data := source.recv(65536):
                time.sleep(self._delay)
                while self._is_cut.is_set() and not self._is_closed.is_set():
                    time.sleep(0.01)
                if self._lose and self._lose in data:
                    self._muted.add(source)
                if sink not in self._muted:
                    sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        ends.release()

    def _close(self, client, server, ends):
        for _ in range(2):
            ends.acquire()
        self._sockets -= {client, server}
        client.close()
        server.close()

    def drop(self):
        """Closes all connections, like a stopping server; accepts new ones."""
        for each in list(self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self._is_cut.set()

    def restore(self):
        self._is_cut.clear()

    def lose_answers_to(self, text):
        """Requests that contain these bytes arrive, but their connection receives no more replies. None ends this."""
        self._lose = text

    def close(self):
        self._is_closed.set()
        self._listener.close()
