"""Hostile connections: handshakes that never end, idle clients that ping, too many from one address, weak TLS."""

import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings
from pathlib import Path

from daemon import Daemon, eventually
from http2_client import PING, PREFACE, SETTINGS, Http2Client, call_fields, frame, headers
from raw_client import RawClient
from server_process import require
from usage import resident_bytes

RULES = """
server:
  header_timeout: 1s
  idle_timeout: IDLE
  workers: 2
  max_body_bytes: 1048576
  SERVER
grpc: {listen: "HOST:0", idle_timeout: IDLE, min_ping_interval: 1ms TLS}
resp: {listen: "HOST:0", password: secret TLS}
gateway:
  listen: "HOST:0"
  header_timeout: 1s
  idle_timeout: IDLE
  GATEWAY
  upstreams: {app: {servers: ["http://127.0.0.1:9"]}}
  routes: [{upstream: app}]
domains: {default: {rules: [{name: all, limit: 1000000/hour}]}}
"""
PEEK = b"GET /v1/keys/a?limit=5/m HTTP/1.1\r\nHost: x\r\n\r\n"
HEALTH = "/grpc.health.v1.Health/Check"
UNKNOWN = 0xBB
LONG = 40  # seconds: much more than the timeouts above, on a busy machine


def serve(server="", host="127.0.0.1", tls="", idle="2s", **options):
    text = RULES.replace("SERVER", server).replace("HOST", host).replace("IDLE", idle)
    text = text.replace("GATEWAY", tls and "tls: " + tls).replace("TLS", tls and ", tls: " + tls)
    return Daemon(text, listen=f"{host}:0", **options)


def ports(daemon):
    """Ports in start order: http, grpc, resp, gateway."""
    names = ("http", "grpc", "resp", "gateway")
    found = []

    def said():
        found[:] = re.findall(r"listening on \w+://\S*:(\d+)", daemon.output)
        return len(found) == len(names)

    if not eventually(said):
        raise AssertionError("not all listeners are there:\n" + daemon.output)
    return dict(zip(names, map(int, found)))


def other_address():
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
            address = probe.getsockname()[0]
        except OSError:
            address = "127.0.0.1"
    if address.startswith("127."):
        raise unittest.SkipTest("this machine has only loopback addresses")
    return address


def is_closed(client, timeout):
    client.settimeout(timeout)
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


class HandshakeTest(unittest.TestCase):
    def test_connections_that_do_not_complete_their_handshake_are_closed(self):
        beginnings = {
            "one byte": PREFACE[:1],
            "a preface": PREFACE,
            "a preface and a part of SETTINGS": PREFACE + frame(SETTINGS)[:8],
        }
        with serve(idle="1h") as daemon:
            found = ports(daemon)
            for name, beginning in beginnings.items():
                for listener in ("grpc", "gateway"):
                    with self.subTest(name, listener=listener), Http2Client(found[listener], sends_preface=False) as client:
                        client.send(beginning)
                        self.assertTrue(client.wait_closed(LONG))

    def test_clients_that_send_byte_by_byte_do_not_get_more_time(self):
        with serve(idle="1h") as daemon, Http2Client(ports(daemon)["grpc"], sends_preface=False) as client:
            deadline = time.monotonic() + LONG
            for byte in PREFACE + frame(SETTINGS):
                if not client.send(bytes([byte])) or client.wait_closed(0.3):
                    break
            self.assertTrue(client.wait_closed(max(0.1, deadline - time.monotonic())))

    def test_header_blocks_that_do_not_end_are_closed(self):
        with serve(idle="1h") as daemon:
            found = ports(daemon)
            for listener in ("grpc", "gateway"):
                with self.subTest(listener=listener), Http2Client(found[listener]) as client:
                    client.send(headers(1, call_fields("/x"), flags=0))
                    self.assertTrue(client.wait_closed(LONG))

    def test_pings_and_unknown_frames_do_not_keep_a_connection_open(self):
        with serve() as daemon:
            found = ports(daemon)
            for listener in ("grpc", "gateway"):
                for noise in (frame(PING, payload=b"12345678"), frame(UNKNOWN, payload=b"?"), frame(SETTINGS)):
                    with self.subTest(listener=listener, noise=noise[3]), Http2Client(found[listener]) as client:
                        deadline = time.monotonic() + LONG
                        while time.monotonic() < deadline and client.send(noise):
                            client.read()
                            time.sleep(0.2)
                        self.assertTrue(client.closed)

    def test_calls_keep_a_connection_open(self):
        with serve() as daemon, Http2Client(ports(daemon)["grpc"]) as client:
            for stream in range(1, 41, 2):  # five seconds
                client.open_call(stream, HEALTH)
                client.send_data(stream, b"\0\0\0\0\0", end=True)
                self.assertTrue(client.wait_for(lambda number=stream: number in client.ended))
                time.sleep(0.25)


class AddressTest(unittest.TestCase):
    MOST = 20

    def connect(self, address, port):
        return socket.create_connection((address, port), timeout=20)

    def test_one_address_cannot_take_all_connections(self):
        address = other_address()
        limit = f"max_connections_per_address: {self.MOST}"
        with serve(limit, host="0.0.0.0", idle="1h") as daemon:
            for listener, port in ports(daemon).items():
                with self.subTest(listener=listener):
                    clients = [self.connect(address, port) for _ in range(3 * self.MOST)]
                    closed = sum(is_closed(client, 0.2) for client in clients)
                    self.assertGreaterEqual(closed, 2 * self.MOST)
                    name = f'penstock_listener_rejected_per_address_total{{listener="{listener}"}}'
                    self.assertTrue(eventually(lambda n=name: daemon.metric(n) == 2 * self.MOST))
                    for client in clients:
                        client.close()
            daemon.wait_for_output("too many from one address")
            self.assertTrue(eventually(lambda: f'last_address="{address}"' in daemon.output))
            with RawClient(daemon.port) as local:  # loopback is exempt
                self.assertEqual(local.send(PEEK).answer()[0], 200)

            def admitted():
                with self.connect(address, daemon.port) as client:
                    client.sendall(PEEK)
                    client.settimeout(20)
                    try:
                        return client.recv(12) == b"HTTP/1.1 200"
                    except ConnectionError:
                        return False

            self.assertTrue(eventually(admitted), "connections that ended do not count")

    def test_trusted_proxies_and_loopback_are_exempt(self):
        address = other_address()
        settings = f"max_connections_per_address: 2\n  trusted_proxies: [{address}]"
        with serve(settings, host="0.0.0.0") as daemon:
            port = ports(daemon)["http"]
            for host in (address, "127.0.0.1"):
                clients = [self.connect(host, port) for _ in range(10)]
                for client in clients:
                    client.sendall(PEEK)
                    self.assertEqual(client.recv(12), b"HTTP/1.1 200")
                for client in clients:
                    client.close()
            self.assertEqual(daemon.metric("penstock_listener_rejected_per_address_total"), 0)


class BufferTest(unittest.TestCase):
    def test_idle_connections_do_not_keep_the_memory_of_large_requests(self):
        body = b'{"checks":[{"key":"a","limit":"5/m"}]}' + b" " * 1_000_000
        head = f"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        with serve(idle="1h") as daemon:
            port = ports(daemon)["http"]
            clients = [RawClient(port) for _ in range(61)]
            self.assertEqual(clients[0].send(head.encode(), body).answer()[1].get("connection", ""), "")
            before = resident_bytes(daemon.pid)
            for client in clients[1:]:
                self.assertEqual(client.send(head.encode(), body).answer()[1].get("connection", ""), "")
            grown = resident_bytes(daemon.pid) - before
            print(f"\n60 connections that have sent 1 MB each: {grown / (1 << 20):.1f} MiB more")
            for client in clients:
                client.close()
        self.assertLess(grown, 24 << 20)  # 60 MB if each kept its buffer


class CipherTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("openssl")
        folder = tempfile.TemporaryDirectory(prefix="penstock-e2e-")
        cls.addClassCleanup(folder.cleanup)
        cls.certificate, cls.key = Path(folder.name) / "c.pem", Path(folder.name) / "k.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-out", cls.certificate, "-keyout", cls.key],
            check=True, capture_output=True)

    def context(self, ciphers=None, most=None, least=None):
        context = ssl.create_default_context(cafile=self.certificate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            if ciphers:
                context.set_ciphers(ciphers + ":@SECLEVEL=0")
            context.minimum_version = least or ssl.TLSVersion.TLSv1
            context.maximum_version = most or ssl.TLSVersion.TLSv1_3
        return context

    def suite(self, port, context):
        """The negotiated cipher suite; None when the server rejects the handshake."""
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
            try:
                with context.wrap_socket(plain, server_hostname="localhost") as client:
                    return client.cipher()[0]
            except (ssl.SSLError, ConnectionError):
                return None

    def test_only_forward_secret_authenticated_suites_are_accepted(self):
        files = {"c.pem": self.certificate.read_text(), "k.pem": self.key.read_text()}
        tls = "{certificate: c.pem, key: k.pem}"
        version = ssl.TLSVersion
        weak = ("AES128-SHA", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384")
        strong = ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305")
        with serve("tls: " + tls, tls=tls, files=files) as daemon:
            for listener, port in ports(daemon).items():
                with self.subTest(listener=listener):
                    for name in weak:
                        self.assertIsNone(self.suite(port, self.context(name, most=version.TLSv1_2)), name)
                    for name in strong:
                        self.assertEqual(self.suite(port, self.context(name, most=version.TLSv1_2)), name)
                    self.assertIsNone(self.suite(port, self.context("ALL", most=version.TLSv1_1)))
                    self.assertRegex(self.suite(port, self.context(least=version.TLSv1_3)), "^TLS_")

    def test_pings_do_not_keep_a_connection_open_over_tls(self):
        files = {"c.pem": self.certificate.read_text(), "k.pem": self.key.read_text()}
        tls = "{certificate: c.pem, key: k.pem}"
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols(["h2"])
        with serve("tls: " + tls, tls=tls, files=files) as daemon:
            found = ports(daemon)
            for listener in ("grpc", "gateway"):
                with self.subTest(listener=listener), Http2Client(found[listener], context=context) as client:
                    deadline = time.monotonic() + LONG
                    while time.monotonic() < deadline and client.send(frame(PING, payload=b"12345678")):
                        client.read()
                        time.sleep(0.2)
                    self.assertTrue(client.closed)


if __name__ == "__main__":
    unittest.main()
