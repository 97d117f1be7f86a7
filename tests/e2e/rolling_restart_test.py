"""Rolling restarts under load lose no request: daemons are replaced one by one, behind clients that choose ready
daemons like a load balancer. PENSTOCK_RESTARTS=100 for a long run."""

import collections
import http.client
import http.server
import os
import random
import re
import signal
import threading
import time
import unittest

from daemon import Daemon, ask, eventually
from grpc_calls import NOT_SERVING, OK, Client, Messages, grpc, grpc_port
from http2_client import Http2Client
from raw_client import RawClient
from resp_client import RespClient

RESTARTS = int(os.environ.get("PENSTOCK_RESTARTS", "3"))
DELAY = 1.5  # seconds
POLL = 0.05

RULES = """
server: {shutdown_grace: 60s}
grpc: {listen: "127.0.0.1:0"}
resp: {listen: "127.0.0.1:0"}
gateway:
  listen: "127.0.0.1:0"
  domain: api
  upstreams: {app: {servers: ["http://127.0.0.1:UPSTREAM"]}}
  routes: [{upstream: app}]
domains: {api: {rules: [{name: all, limit: 1000000/second}]}}
"""


class Upstream(http.server.ThreadingHTTPServer):
    """The application behind the gateway."""

    daemon_threads = True

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65536  # head and body in one write

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Upstream.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # connections of a stopped daemon


class Backend:
    """A daemon, and whether its /readyz reports ready."""

    def __init__(self, upstream, delay):
        text = RULES.replace("UPSTREAM", str(upstream.server_port))
        options = () if delay is None else ("--shutdown-delay", f"{int(delay * 1000)}ms")
        self.daemon = Daemon(text, options=options)
        self.daemon.wait_for_output("admin on")  # the last startup line
        _, gateway = re.findall(r"listening on http://[^ ]*:(\d+)", self.daemon.output)
        self.ports = {"http": self.daemon.port, "gateway": int(gateway), "resp": self.daemon.resp_port,
                      "grpc": grpc_port(self.daemon)}
        self.is_ready = False
        self._is_watched = True
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _watch(self):
        while self._is_watched:
            try:
                is_ready = ask(self.daemon.admin_port, "GET", "/readyz").status == 200
            except (OSError, http.client.HTTPException):
                is_ready = False
            # another daemon may have reused the port
            self.is_ready = is_ready and self.daemon.exit_code() is None
            time.sleep(POLL)

    def close(self):
        self._is_watched = False
        self._watcher.join()
        self.daemon.close()


class Clients:
    """Threads that send requests continuously. Unanswered requests are in `lost`."""

    def __init__(self, messages):
        self.backends = []
        self.lost = []
        self.answered = collections.Counter()
        self._messages = messages
        self._stopped = threading.Event()
        self._threads = []

    def start(self):
        jobs = [("http", self.http, "http", 0.002), ("http, seldom", self.http, "http", DELAY / 4),
                ("http, new connections", self.one_shot, "http", 0.005),
                ("gateway", self.http, "gateway", 0.002), ("gateway h2", self.http2, "gateway", 0.002),
                ("resp", self.resp, "resp", 0.002), ("grpc", self.grpc, "grpc", 0.002)]
        for name, job, port, pause in jobs:
            self._threads.append(threading.Thread(target=self._repeat, args=(name, job, port, pause)))
            self._threads[-1].start()

    def stop(self):
        self._stopped.set()
        for thread in self._threads:
            thread.join(30)

    def _pick(self):
        while True:
            ready = [each for each in list(self.backends) if each.is_ready]
            if ready:
                return random.choice(ready)
            time.sleep(0.01)

    def _repeat(self, name, job, port, pause):
        state = {}
        while not self._stopped.is_set():
            try:
                job(port, state)
                self.answered[name] += 1
            except Exception as error:  # any failure in place of a response
                self.lost.append(f"{name}: {type(error).__name__}: {error}")
                self._forget(state)
            time.sleep(pause)
        self._forget(state)

    @staticmethod
    def _forget(state):
        for client in state.values():
            if hasattr(client, "close") and not isinstance(client, Backend):
                client.close()
        state.clear()

    def http(self, port, state):
        """Keeps its connection until it receives Connection: close."""
        if "connection" not in state:
            state["connection"] = http.client.HTTPConnection("127.0.0.1", self._pick().ports[port], timeout=20)
        self._request_over(state["connection"], port)
        if state["connection"].sock is None:  # closed by the response
            del state["connection"]

    def one_shot(self, port, _state):
        connection = http.client.HTTPConnection("127.0.0.1", self._pick().ports[port], timeout=20)
        self._request_over(connection, port)
        connection.close()

    @staticmethod
    def _request_over(connection, port):
        connection.request("GET", "/" if port == "gateway" else "/v1/keys/a?limit=5/m")
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            raise RuntimeError(f"status {response.status}")

    def http2(self, port, state):
        """Keeps its connection until it receives GOAWAY."""
        if "connection" not in state:
            state["connection"] = Http2Client(self._pick().ports[port])
        if state["connection"].get("/") != 200:
            raise RuntimeError("not 200")
        if state["connection"].goaway:
            state.pop("connection").close()

    def resp(self, port, state):
        """RESP has no close message: disconnects from a daemon that is not ready."""
        if "connection" in state and not state["backend"].is_ready:
            state.pop("connection").close()
        if "connection" not in state:
            state["backend"] = self._pick()
            state["connection"] = RespClient(state["backend"].ports[port])
        if state["connection"].ask("PING") != "PONG":
            raise RuntimeError("not PONG")

    def grpc(self, port, state):
        """A channel for each daemon."""
        backend = self._pick()
        if backend not in state:
            for old in [each for each in state if each not in self.backends]:
                state.pop(old).close()
            state[backend] = Client(self._messages, backend.ports[port])
        if state[backend].ask("api", {"path": "/"}).overall_code != OK:
            raise RuntimeError("not OK")


class RollingRestart(unittest.TestCase):
    def setUp(self):
        self.upstream = Upstream()
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)

    def start(self, delay=DELAY):
        backend = Backend(self.upstream, delay)
        self.addCleanup(backend.close)
        self.assertTrue(eventually(lambda: backend.is_ready, 20))
        return backend

    def test_no_request_is_lost(self):
        clients = Clients(Messages())
        clients.backends = [self.start(), self.start()]
        clients.start()
        self.addCleanup(clients.stop)
        for _ in range(RESTARTS):
            clients.backends.append(self.start())
            old = clients.backends[0]
            before = clients.answered.copy()
            old.daemon.signal(signal.SIGTERM)
            self.assertEqual(old.daemon.wait(60), 0)
            clients.backends.remove(old)
            # Every client has used it.
            self.assertTrue(eventually(lambda: all(clients.answered[name] > before[name]
                                                   for name in before), 30), clients.answered)
        clients.stop()
        print(f"{RESTARTS} restarts: {len(clients.lost)} lost, answered: {dict(clients.answered)}")
        self.assertEqual(clients.lost, [])
        self.assertEqual(len(clients.answered), 7)


class ShutdownDelay(unittest.TestCase):
    """What clients see after SIGTERM."""

    def setUp(self):
        self.upstream = Upstream()
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)

    def shutting_down(self, delay=60):
        """A daemon in its shutdown delay, and connections made before."""
        backend = Backend(self.upstream, delay)
        self.addCleanup(backend.close)
        self.assertTrue(eventually(lambda: backend.is_ready, 20))
        connected = {"http": http.client.HTTPConnection("127.0.0.1", backend.ports["http"], timeout=20),
                     "gateway": http.client.HTTPConnection("127.0.0.1", backend.ports["gateway"], timeout=20),
                     "h2": Http2Client(backend.ports["gateway"]),
                     "idle h2": Http2Client(backend.ports["gateway"]),
                     "resp": RespClient(backend.ports["resp"])}
        self.connected = connected
        self.addCleanup(self.disconnect)
        for name in ("http", "gateway"):
            self.assertEqual(self.ask(connected[name]), None)
        for name in ("h2", "idle h2"):
            self.assertEqual(connected[name].get("/"), 200)
        self.assertEqual(connected["resp"].ask("PING"), "PONG")
        backend.daemon.signal(signal.SIGTERM)
        backend.daemon.wait_for_output("shutting down")
        self.assertTrue(eventually(lambda: not backend.is_ready))
        return backend, connected

    @staticmethod
    def ask(connection):
        connection.request("GET", "/v1/keys/a?limit=5/m")
        response = connection.getresponse()
        response.read()
        return response.getheader("Connection")

    def disconnect(self):
        """These clients do not answer PING frames by themselves: the daemon would wait for them."""
        for client in self.connected.values():
            client.close()

    def finish(self, backend):
        self.disconnect()
        backend.daemon.signal(signal.SIGTERM)  # the second signal ends the delay
        self.assertEqual(backend.daemon.wait(20), 0)

    def test_clients_are_served_and_receive_a_close(self):
        backend, connected = self.shutting_down()
        ready = backend.daemon.admin("/readyz")
        self.assertEqual(ready.status, 503)
        self.assertEqual(backend.daemon.admin("/healthz").status, 200)
        for name in ("http", "gateway"):
            self.assertEqual(self.ask(connected[name]), "close")
            fresh = http.client.HTTPConnection("127.0.0.1", backend.ports[name], timeout=20)
            self.assertEqual(self.ask(fresh), "close")
            fresh.close()
        self.assertTrue(eventually(lambda: connected["h2"].get("/") == 200 and connected["h2"].goaway))
        fresh = Http2Client(backend.ports["gateway"])
        self.assertEqual(fresh.get("/"), 200)
        fresh.close()
        self.assertEqual(connected["resp"].ask("PING"), "PONG")
        self.assertIsNone(backend.daemon.exit_code())
        backend.daemon.signal(signal.SIGTERM)  # the second signal ends the delay
        # It ends before the grace period, although the HTTP/2 client no longer responds.
        self.assertEqual(backend.daemon.wait(30), 0)
        with self.assertRaises((OSError, ValueError)):
            connected["resp"].ask("PING")

    @unittest.skipIf(grpc is None, "python3-grpcio is not installed")
    def test_health_of_grpc_is_not_serving_and_calls_are_answered(self):
        messages = Messages()
        backend, _ = self.shutting_down()
        client = Client(messages, backend.ports["grpc"])
        self.addCleanup(client.close)
        self.assertEqual(client.health(), NOT_SERVING)
        self.assertEqual(client.ask("api", {"path": "/"}).overall_code, OK)
        self.finish(backend)

    def test_pipelined_requests_are_all_answered(self):
        backend, _ = self.shutting_down()
        request = b"GET /v1/keys/a?limit=5/m HTTP/1.1\r\nHost: x\r\n\r\n"
        with RawClient(backend.ports["http"]) as client:
            client.send(request * 5)
            answers = client.everything()
        self.assertEqual(answers.count(b"HTTP/1.1 200"), 5)
        self.assertEqual(answers.count(b"Connection: close"), 1)
        self.finish(backend)

    def test_a_connection_made_before_the_stop_gets_its_first_answer(self):
        backend, _ = self.shutting_down()
        self.disconnect()
        with RawClient(backend.ports["http"]) as client, RespClient(backend.ports["resp"]) as resp:
            backend.daemon.signal(signal.SIGTERM)
            backend.daemon.wait_for_output("stopping")
            time.sleep(0.3)  # for the workers, which wait two seconds for a first request
            status = client.send(b"GET /v1/keys/a?limit=5/m HTTP/1.1\r\nHost: x\r\n\r\n").answer()[0]
            self.assertEqual(status, 200)
            self.assertEqual(resp.ask("PING"), "PONG")
        self.assertEqual(backend.daemon.wait(20), 0)

    def test_the_delay_ends_by_itself(self):
        backend, _ = self.shutting_down(delay=0.3)
        self.disconnect()
        self.assertEqual(backend.daemon.wait(20), 0)
        self.assertRegex(backend.daemon.output, re.compile("shutting down.*stopping.*ended", re.DOTALL))


if __name__ == "__main__":
    unittest.main()
