"""Hostile and mistaken clients of the RESP listener."""

import socket
import time
import unittest

from daemon import Daemon, eventually
from resp_client import RespClient
from usage import raise_file_limit, resident_bytes

CONFIGURATION = """
server: {workers: 2}
resp: {listen: "127.0.0.1:0"}
"""
HTTP_CLOSED = 'penstock_listener_errors_total{listener="resp",kind="http"}'


def connect(daemon):
    return socket.create_connection(("127.0.0.1", daemon.resp_port), timeout=30)


def everything(connection):
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionError:
        pass
    return received


class WebPageTest(unittest.TestCase):
    """A web page makes a browser send requests with commands in their bodies to the port."""

    COMMANDS = b"INCRBY stolen 5\r\nDEL counter\r\n*2\r\n$4\r\nINCR\r\n$6\r\nstolen\r\n"
    REQUESTS = [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:6380\r\nContent-Length: 70\r\n\r\n" + COMMANDS,
        b"PUT /x HTTP/1.1\r\nHost: a\r\n\r\n" + COMMANDS,
        b"GET /?x HTTP/1.1\r\nHost: a\r\n\r\n" + COMMANDS,
        b"OPTIONS * HTTP/1.1\r\n\r\n" + COMMANDS,
        b"Host: a\r\n\r\n" + COMMANDS,
    ]

    def test_commands_in_http_requests_are_not_executed(self):
        with Daemon(CONFIGURATION) as daemon, RespClient(daemon.resp_port) as client:
            client.ask("INCR", "counter")
            for request in self.REQUESTS:
                with connect(daemon) as page:
                    page.sendall(request)
                    self.assertEqual(everything(page), b"", request[:20])
            self.assertIsNone(client.ask("GET", "stolen"))
            self.assertEqual(client.ask("GET", "counter"), "1")
            self.assertTrue(eventually(lambda: daemon.metric(HTTP_CLOSED) == len(self.REQUESTS)))
            daemon.wait_for_output("an HTTP request was sent to a listener that does not speak HTTP")

    def test_a_flood_of_http_requests_is_logged_at_a_limited_rate(self):
        with Daemon(CONFIGURATION) as daemon:
            started = time.monotonic()
            for _ in range(300):
                with connect(daemon) as page:
                    page.sendall(self.REQUESTS[0])
                    everything(page)
            self.assertTrue(eventually(lambda: daemon.metric(HTTP_CLOSED) == 300))
            lines = daemon.output.count("does not speak HTTP")
            self.assertLessEqual(lines, 2 * (time.monotonic() - started + 2))  # per worker


class MemoryTest(unittest.TestCase):
    CONNECTIONS = 200

    def flood(self, daemon, each):
        """Memory growth, peak and final, while clients send this and disconnect."""
        before = resident_bytes(daemon.pid)
        clients = []
        try:
            for _ in range(self.CONNECTIONS):
                clients.append(connect(daemon))
                clients[-1].sendall(each)
            self.assertTrue(eventually(
                lambda: resident_bytes(daemon.pid) > before + self.CONNECTIONS * 700_000, 20))
            peak = resident_bytes(daemon.pid)
        finally:
            for client in clients:
                client.close()
        self.assertLess(peak - before, self.CONNECTIONS * 3_000_000)
        self.assertTrue(
            eventually(lambda: resident_bytes(daemon.pid) < before + 20_000_000, 40),
            f"{before} before, {peak} at the peak, {resident_bytes(daemon.pid)} after")

    def test_memory_of_half_sent_commands_is_returned(self):
        raise_file_limit(self, 2 * self.CONNECTIONS)
        with Daemon(CONFIGURATION) as daemon, RespClient(daemon.resp_port) as client:
            client.ask("PING")
            self.flood(daemon, b"*2\r\n$4\r\nECHO\r\n$1000000\r\n" + b"x" * 900_000)

    def test_memory_of_transactions_without_an_end_is_bounded_and_returned(self):
        raise_file_limit(self, 2 * self.CONNECTIONS)
        command = b"*2\r\n$4\r\nECHO\r\n$9000\r\n" + b"x" * 9000 + b"\r\n"
        with Daemon(CONFIGURATION) as daemon, RespClient(daemon.resp_port) as client:
            client.ask("PING")
            self.flood(daemon, b"MULTI\r\n" + command * 100)
            for _ in range(2):
                client.ask("MULTI")
                queued = 0
                with self.assertRaisesRegex(RuntimeError, "transaction is too large"):
                    while queued < 2000:
                        client.ask("PING")
                        queued += 1
                self.assertEqual(queued, 1000)
                with self.assertRaisesRegex(RuntimeError, "EXECABORT"):
                    client.ask("EXEC")


class SlowTest(unittest.TestCase):
    def test_a_client_that_never_reads_is_bounded_and_closed(self):
        with Daemon(CONFIGURATION) as daemon:
            before = resident_bytes(daemon.pid)
            with connect(daemon) as client:
                commands = b"COMMAND\r\n" * 1000  # four megabytes of replies
                with self.assertRaises(OSError):  # reset after the close
                    for _ in range(10_000):
                        client.sendall(commands)
                        self.assertLess(resident_bytes(daemon.pid), before + 30_000_000)
            self.assertTrue(eventually(
                lambda: daemon.metric('penstock_listener_connections{listener="resp"}') == 0))
            timeouts = 'penstock_listener_errors_total{listener="resp",kind="timeout"}'
            self.assertTrue(eventually(lambda: daemon.metric(timeouts) == 1))


if __name__ == "__main__":
    unittest.main()
