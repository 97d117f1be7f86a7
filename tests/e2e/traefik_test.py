"""A real Traefik, named by PENSTOCK_TRAEFIK, in front of an application: the files of examples/traefik, with other
ports. `make interop` runs it; `make test` does not, because Debian has no Traefik package."""

import os
import signal
import socket
import threading
import unittest

from daemon import ask, eventually
from proxies_test import ForwardAuthCase

TRAEFIK = os.environ.get("PENSTOCK_TRAEFIK", "")


def setUpModule():
    if not TRAEFIK:
        raise unittest.SkipTest("PENSTOCK_TRAEFIK names no Traefik")


class TraefikTest(ForwardAuthCase, unittest.TestCase):
    program = TRAEFIK

    @classmethod
    def start(cls):
        cls.write("traefik/dynamic.yaml", 8003)
        path = cls.write("traefik/traefik.yaml", 8003)
        cls.run_proxy(TRAEFIK, f"--configFile={path}")
        # it listens before it has read the second file
        if not eventually(lambda: ask(cls.port, "GET", "/free").status != 404):
            raise AssertionError("Traefik knows no way to the application")

    def test_applies_its_failure_mode_while_the_daemon_is_down(self):
        """It waits while the daemon hangs, and denies when there is none."""
        self.daemon.signal(signal.SIGSTOP)
        continued = threading.Timer(3, self.daemon.signal, [signal.SIGCONT])
        continued.start()
        self.addCleanup(continued.join)
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as client:
            client.sendall(b"GET /free HTTP/1.1\r\nHost: a\r\n\r\n")
            with self.assertRaises(socket.timeout):
                client.recv(1)
            client.settimeout(10)
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 "))


class WithoutDaemonTest(TraefikTest):
    """The daemon stops before the first request."""

    @classmethod
    def start(cls):
        super().start()
        cls.daemon.close()

    def test_denies_without_a_daemon(self):
        self.assertEqual(self.get("/free")[0], 500)


def load_tests(loader, _tests, _pattern):
    alone = unittest.TestSuite([WithoutDaemonTest("test_denies_without_a_daemon")])
    return unittest.TestSuite([loader.loadTestsFromTestCase(TraefikTest), alone])


if __name__ == "__main__":
    unittest.main()
